import type { Logger } from 'pino';
import { ConfigError, type Config } from './config.js';
import { makeDataFolder } from '../platform/embedded/data-folder.js';
import { lockFolder } from '../platform/embedded/lock.js';
import { startPostgres } from '../platform/embedded/postgres.js';
import { startTemporal } from '../platform/embedded/temporal.js';
import { loginRoleOf, type LoginRole } from '../platform/db/login-role.js';
import { migrate } from '../platform/db/migrate.js';
import { readDatabaseUrlOf, type UrlSetting } from '../platform/db/refusals.js';
import { urlAs, type DatabaseUrl } from '../platform/db/url.js';
import type { TemporalTarget } from '../platform/temporal/connection.js';

/** The servers that all processes of the service use. */
export interface Servers {
  /** As the role that may do nothing but become ratchet_app. */
  databaseUrl: string;
  temporal: TemporalTarget;
  temporalUi: string | null;
}

/**
 * Starts those that the settings do not name, side by side, and migrates the database. `onExit`: an
 * embedded server cannot be kept alive.
 */
export async function startServers(
  config: Config,
  secretKey: Buffer,
  log: Logger,
  onExit: (error: Error) => void,
): Promise<{ servers: Servers; stop: () => Promise<void> }> {
  const stops: (() => Promise<void>)[] = [];
  // The lock, which comes first, is released last.
  const stop = async () => {
    const [unlock, ...ends] = stops.splice(0);
    await Promise.all(ends.map((end) => end())).finally(unlock);
  };
  if (!config.ownDatabase || !config.ownTemporal) {
    makeDataFolder(config.dataDir);
    // One start at a time: of two, each would hold one of the two servers.
    const lock = lockFolder(config.dataDir);
    stops.push(() => Promise.resolve(lock.release()));
  }
  const startDatabase = async (): Promise<string> => {
    const { dataDir, ownDatabase } = config;
    if (ownDatabase) {
      const { ownerUrl, login, appUrl } = databaseAccess(config, secretKey);
      if (ownerUrl !== null) await migrate(ownerUrl, log, { login });
      return appUrl;
    }
    const postgres = await startPostgres({ dataDir, log, onExit });
    stops.push(() => postgres.stop());
    const remedy = `${dataDir} was made by another build: move or delete it to begin anew, set RATCHET_DATA_DIR to another folder, or run the build that made it`;
    const { login, appUrl } = databaseAccess({ databaseUrl: postgres.url, appDatabaseUrl: null }, secretKey);
    await migrate(postgres.url, log, { login, remedy });
    return appUrl;
  };
  const startWorkflows = async (): Promise<Omit<Servers, 'databaseUrl'>> => {
    const { dataDir, cacheDir, temporalPort: port, temporalUi: ui, temporalUiUrl } = config;
    const { isTemporalPortFixed: isPortFixed } = config;
    if (config.ownTemporal) return { temporal: { env: config.env }, temporalUi: temporalUiUrl };
    const temporal = await startTemporal({
      dataDir,
      cacheDir,
      searchPath: config.env['PATH'],
      port,
      isPortFixed,
      ui,
      log,
      onExit,
    });
    stops.push(() => temporal.stop());
    return { temporal: { embedded: { address: temporal.address } }, temporalUi: temporalUiUrl ?? temporal.uiUrl };
  };
  const [database, workflows] = await Promise.allSettled([startDatabase(), startWorkflows()]);
  if (database.status === 'fulfilled' && workflows.status === 'fulfilled') {
    return { servers: { databaseUrl: database.value, ...workflows.value }, stop };
  }
  // Report why the start failed, not what failed during the clean-up.
  await stop().catch((err: Error) => log.error({ err }, 'an embedded server did not stop as it should'));
  throw database.status === 'rejected' ? database.reason : (workflows as PromiseRejectedResult).reason;
}

/** Who uses the database, and how. */
export interface DatabaseAccess {
  /** Of the role that migrates; null: another process does. */
  ownerUrl: string | null;
  /** The role of the service's connections. */
  login: LoginRole;
  appUrl: string;
}

/** From the settings, at least one of which is there. Throws a ConfigError for a wrong URL. */
export function databaseAccess(
  { databaseUrl, appDatabaseUrl }: Pick<Config, 'databaseUrl' | 'appDatabaseUrl'>,
  secretKey: Buffer,
): DatabaseAccess {
  if (databaseUrl !== null) read('DATABASE_URL', databaseUrl);
  if (appDatabaseUrl !== null) {
    const { user, password } = read('RATCHET_APP_DATABASE_URL', appDatabaseUrl);
    if (user !== null) return { ownerUrl: databaseUrl, login: { name: user, password }, appUrl: appDatabaseUrl };
  }
  const login = loginRoleOf(secretKey);
  const base = (appDatabaseUrl ?? databaseUrl)!;
  return { ownerUrl: databaseUrl, login, appUrl: urlAs(base, login.name, login.password) };
}

function read(setting: UrlSetting, url: string): DatabaseUrl {
  try {
    return readDatabaseUrlOf(setting, url);
  } catch (cause) {
    throw new ConfigError((cause as Error).message, { cause });
  }
}
