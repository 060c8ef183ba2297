print("linkemulator")
