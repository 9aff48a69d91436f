import { ConfigError, readConfig } from '../../service/config.js';
import { createLog } from '../../service/log.js';
import { databaseAccess } from '../../service/servers.js';
import { migrate, migrationSql } from '../../platform/db/migrate.js';
import { readDatabaseUrl } from '../../platform/db/url.js';
import { say } from '../service/output.js';

/** Migrates the database of DATABASE_URL, or prints the SQL that does. */
export async function migrateDatabase({ printSql }: { printSql?: boolean }): Promise<void> {
  const config = readConfig();
  const url = config.databaseUrl ?? (printSql ? config.appDatabaseUrl : null);
  if (url === null)
    throw new ConfigError('ratchet migrate-database needs DATABASE_URL, of a role that may create tables');
  if (config.secretKey === null)
    throw new ConfigError(
      'ratchet migrate-database needs RATCHET_SECRET_KEY, from which the role of the service follows',
    );
  const { login } = databaseAccess(config, config.secretKey);
  if (printSql) {
    const { database, user } = readDatabaseUrl(url);
    return say(await migrationSql(login, database ?? user ?? 'postgres'));
  }
  const applied = await migrate(url, createLog(config), { login });
  say(applied.length > 0 ? `Migrated: ${applied.join(', ')}.` : 'The database is up to date.');
}
