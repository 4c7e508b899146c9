export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** How to reach one PostgreSQL database. */
export interface DatabaseSettings {
  /** Host name, IP address, or the absolute folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | null;
  readonly sslmode: SslMode;
  /** PEM of the only roots that `verify-ca` and `verify-full` trust; null for the system's. */
  readonly ca: string | null;
}
