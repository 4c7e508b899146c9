/** English: users, the profile, and the steps of signing in. */
export const people = {
  'profile.title': 'Profile',
  'profile.details': 'Details',
  'profile.browser': 'This browser',
  'users.name': 'Name',
  'users.login': 'Login',
  'users.role': 'Role',
} as const;
