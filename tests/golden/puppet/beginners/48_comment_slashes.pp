// a comment
notice('x')
/* b */
