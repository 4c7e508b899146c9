/** Russian: users, the profile, and the steps of signing in. */
export const people = {
  'profile.title': 'Профиль',
  'profile.details': 'О вас',
  'profile.browser': 'Этот браузер',
  'users.name': 'Имя',
  'users.login': 'Логин',
  'users.role': 'Роль',
} as const;
