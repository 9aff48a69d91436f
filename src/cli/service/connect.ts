/** The service that the commands use: a running one, or the embedded one started for a command. */
import { ConfigError, readConfig, type Config } from '../../config.js';
import { keptApiKey } from '../../keys.js';
import { Api } from './api.js';
import { note } from './output.js';

const patienceMs = 2_000;

/** Whether a service ends with this process. */
type IsOwn = boolean;

/** Runs a command on the service; one that was started for it is stopped afterwards. */
export async function withService(
  use: (api: Api, isOwn: IsOwn) => Promise<void>,
  config: Config = readConfig(),
): Promise<void> {
  const url = config.serviceUrl ?? `http://127.0.0.1:${config.port}`;
  const running = config.port === 0 && config.serviceUrl === null ? null : await findService(url);
  if (running !== null) {
    note(`Ratchet ${running} at ${url}`);
    return use(new Api(url, keyOf(config)), false);
  }
  if (config.serviceUrl !== null) throw new ConfigError(`RATCHET_URL: no Ratchet service answers at ${url}`);
  const { withEmbedded } = await import('./embedded.js');
  note(`No service answers at ${url}: starting Postgres, Temporal and Ratchet (data in ${config.dataDir}) …`);
  const stopped = 'Stopped. Its job goes on at the next start: ratchet watch ID (ratchet list shows the IDs)';
  await withEmbedded(config, stopped, (api, { url: own, temporalUi }) => {
    note(`Ratchet at ${own}, Temporal UI ${temporalUi ?? 'off'}; both end with this command.`);
    return use(api, true);
  });
}

/** The version of the service at a URL; null: none answers. */
async function findService(url: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(patienceMs),
    });
    const { name, version } = (await answer.json()) as { name?: string; version?: string };
    return name === 'ratchet' ? (version ?? '') : null;
  } catch {
    return null;
  }
}

function keyOf({ apiKey, dataDir, serviceUrl }: Config): string {
  if (apiKey) return apiKey;
  // The kept key is that of this folder's service: no other host may get it.
  if (serviceUrl !== null) throw new ConfigError('RATCHET_URL needs RATCHET_API_KEY, a key of that service');
  const kept = keptApiKey(dataDir);
  if (kept === null)
    throw new ConfigError(`a service is running, and ${dataDir}/api-key has no key of it; set RATCHET_API_KEY`);
  return kept;
}
