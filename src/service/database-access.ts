import type { Config } from './config.js';
import { loginRoleOf, type LoginRole } from '../platform/db/login-role.js';
import { readDatabaseUrlOf } from '../platform/db/refusals.js';
import { urlAs } from '../platform/db/url.js';

/** Who uses the database, and how. */
export interface DatabaseAccess {
  /** Of the role that migrates; null: another process does. */
  ownerUrl: string | null;
  /** The role of the service's connections. */
  login: LoginRole;
  appUrl: string;
}

/** From the settings, at least one of which is there. */
export function databaseAccess(
  { databaseUrl, appDatabaseUrl }: Pick<Config, 'databaseUrl' | 'appDatabaseUrl'>,
  secretKey: Buffer,
): DatabaseAccess {
  if (databaseUrl !== null) readDatabaseUrlOf('DATABASE_URL', databaseUrl);
  if (appDatabaseUrl !== null) {
    const { user, password } = readDatabaseUrlOf('RATCHET_APP_DATABASE_URL', appDatabaseUrl);
    if (user !== null) return { ownerUrl: databaseUrl, login: { name: user, password }, appUrl: appDatabaseUrl };
  }
  const login = loginRoleOf(secretKey);
  const base = (appDatabaseUrl ?? databaseUrl)!;
  return { ownerUrl: databaseUrl, login, appUrl: urlAs(base, login.name, login.password) };
}
