/// # Administration: from what people say to what the gateway does
