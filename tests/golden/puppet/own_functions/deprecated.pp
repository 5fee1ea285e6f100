deprecation('old', 'is old', false)
deprecation('older', 'is older')
