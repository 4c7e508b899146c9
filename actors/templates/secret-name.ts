/** A letter or underscore, then letters, digits and underscores (seed 3 §2.1 rule 4). */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
