import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { test } from '@jest/globals';
import { nodeWith } from '../support/npm.js';
import { pythonWithAll } from '../support/python.js';

/** What a client said, by the name of the scenario: its answer or error. */
export type Said = Record<string, Record<string, unknown>>;

/** A client as it is installed; without it `test` skips. */
export interface Installed {
  test: typeof test | typeof test.skip;
  /** Runs a program of python/ or node/ with the client; `input` is its standard input, as JSON. */
  play<Answer = Said>(program: string, args: readonly string[], input: unknown): Promise<Answer>;
}

export interface Pinned {
  language: 'Python' | 'Node';
  /** As pip or npm names it. */
  name: string;
  version: string;
  /** Installed beside it. */
  beside?: readonly string[];
}

export function install({ language, name, version, beside = [] }: Pinned): Installed {
  const title = `${name}-${version}`;
  if (language === 'Python') {
    const { python, test } = pythonWithAll(title, [`${name}==${version}`, ...beside], '3.10');
    const at = (program: string) => join(__dirname, 'python', program);
    return { test, play: (program, args, input) => run(python, [at(program), ...args], __dirname, input) };
  }
  const { home, test } = nodeWith(title, [`${name}@${version}`, ...beside]);
  return {
    test,
    play(program, args, input) {
      // A module of Node finds packages beside itself only.
      cpSync(join(__dirname, 'node'), home, { recursive: true });
      return run(process.execPath, [program, ...args], home, input);
    },
  };
}

/** The JSON that a program prints; throws with its errors if it fails. */
async function run<Answer>(file: string, args: string[], cwd: string, input: unknown): Promise<Answer> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, { cwd, env: { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' } });
  child.stdin.end(JSON.stringify(input));
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}:\n${errors}`);
  return JSON.parse(said) as Answer;
}
