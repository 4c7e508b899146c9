/** Told to people before they type; the service decides. */
export const PASSWORD_MIN_LENGTH = 12;
