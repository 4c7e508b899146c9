/** The migrations of the version before: five of them stopped readers and writers for as long as the table was large. */
import { type Migration, readMigrations } from '../../../storage/migrate.ts';

/** The present migrations with the earlier form of those that were rewritten. */
export function readMigrationsBefore(): readonly Migration[] {
  const earlier = readMigrations(import.meta.dirname);
  return readMigrations().map((one) => earlier.find(({ version }) => version === one.version) ?? one);
}
