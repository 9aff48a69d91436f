import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { Tools, type ToolAnswer } from '../support/tools.js';
import { ownCache } from '../support/own-cache.js';
import { until } from '../support/until.js';

// `ratchet mcp` with its embedded service.

let folder: string;
let tools: Tools;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-mcp-'));
  // Postgres, which never runs as root, must enter it.
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  await tools.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const empty = ['RATCHET_URL', 'RATCHET_API_KEY', 'RATCHET_DATA_DIR', 'DATABASE_URL', 'TEMPORAL_ADDRESS'];
const environment = () => ({
  ...Object.fromEntries(empty.map((name) => [name, ''])),
  PORT: '0',
  RATCHET_TEMPORAL_PORT: '0',
  XDG_DATA_HOME: folder,
  XDG_CACHE_HOME: ownCache(folder),
});

/** The answer of a tool, called again while the service starts. */
function served(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
  return until(
    'the service has started',
    async () => {
      const answer = await tools.call(name, args);
      return answer.error?.includes('call again') ? null : answer;
    },
    240,
  );
}

test('in / the service keeps its data in the place of the user', async () => {
  tools = await new Tools(parse(folder).root, environment()).connect();
  expect(await served('list_jobs', {})).toEqual({ jobs: [], next_offset: null });
  expect(existsSync(join(folder, 'ratchet', 'api-key'))).toBe(true);
}, 300_000);

test('a deployment says that it ends with this server; a start that fails is repeated', async () => {
  writeFileSync(join(folder, 'prompt.txt'), 'Answer.');
  // In place of the data folder.
  writeFileSync(join(folder, '.ratchet'), '');
  tools = await new Tools(folder, environment()).connect();
  const args = { source: 'prompt.txt', name: 'agents' };
  for (let at = 0; at < 2; at += 1) expect((await served('deploy', args)).error).toContain(join(folder, '.ratchet'));
  rmSync(join(folder, '.ratchet'));
  const deployed = await served('deploy', args);
  expect(deployed).toMatchObject({ name: 'agents', served_until: expect.stringContaining(join(folder, '.ratchet')) });
  expect((await tools.call('watch', { id: deployed.id })).served_until).toBe(deployed.served_until);
}, 300_000);
