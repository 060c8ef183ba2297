print("starshipd")
