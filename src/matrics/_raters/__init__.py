"""Agreement of several raters, from tables of items × raters."""
