import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { serviceOfFile } from '../support/service-of-file.js';
import { mcpClients } from './pins.js';
import { install } from './play.js';

// `ratchet mcp` beside a service, used by the official clients.

const on = serviceOfFile();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-mcp-'));
  writeFileSync(join(folder, 'prompt.txt'), '{{input}}');
  const rows = [1, 2, 3].map((n) => JSON.stringify({ input: `${n} + 1`, expected: String(n + 1) }));
  writeFileSync(join(folder, 'rows.jsonl'), rows.join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const tools = [
  'evaluate',
  'try_prompt',
  'optimize',
  'list_jobs',
  'list_runs',
  'watch',
  'results',
  'rows',
  'list_candidates',
  'candidate',
  'trace',
  'compare',
  'health',
  'control',
  'deploy',
  'migrate',
  'checkup',
  'improve',
  'review_queue',
  'review',
];

for (const client of mcpClients) {
  const { test, play } = install(client);

  test(`${client.name} ${client.version} for ${client.language}`, async () => {
    const { PATH = '', HOME = '' } = process.env;
    const program = join(__dirname, '../../dist/src/cli/ratchet.js');
    const input = {
      command: process.execPath,
      args: [program, 'mcp'],
      cwd: folder,
      env: { PATH, HOME, RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey },
    };
    expect(await play(client.module, [], input)).toEqual({
      server: 'ratchet',
      tools,
      status: 'completed',
      errors: [true, true],
    });
  }, 120_000);
}
