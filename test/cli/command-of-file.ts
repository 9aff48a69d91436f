import { afterAll, beforeAll } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceOfFile } from '../support/service-of-file.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

const root = join(import.meta.dirname, '../..');

/** Options of a task on the files of the folder; the second has neither prompt nor model. */
export const files40 = ['--data', 'rows.jsonl', '--input', 'question', '--expected', 'answer'];
export const task = [...files40, '--model', 'fake/policy'];

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** The built command line on a service with a world of rows, in a folder with a task of 40 rows. */
export function commandOfFile() {
  const on = serviceOfFile(() => startRowsWorld());
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ratchet-cli-'));
    const lines = on.world.rows(40).map((row) => JSON.stringify(row));
    await writeFile(join(folder, 'rows.jsonl'), lines.join('\n'));
    await writeFile(join(folder, 'prompt.txt'), `${rowsBaseline}\n`);
    await writeFile(join(folder, 'list.json'), '["exact"]');
  });
  afterAll(() => rm(folder, { recursive: true }));

  function run(args: string[], key: object, input = ''): Promise<Ended> {
    const command = [join(root, 'dist/src/cli/ratchet.js'), ...args];
    const env = { ...process.env, RATCHET_URL: on.service.url, ...key };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, command, { cwd: folder, env }, (_error, out, err) => {
        resolve({ code: child.exitCode, out, err });
      });
      child.stdin!.end(input);
    });
  }

  return {
    on,
    run,
    /** Runs a command with the key of the tests. */
    ratchet: (...args: string[]) => run(args, { RATCHET_API_KEY: on.service.apiKey }),
    path: (name: string) => join(folder, name),
    written: (name: string) => readFile(join(folder, name), 'utf8'),
  };
}
