print("starshipbench")
