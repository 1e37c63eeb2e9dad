document.title = "Read"
