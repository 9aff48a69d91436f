import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryReplace } from '../../../src/cli/task/output-file.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-output-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the file of the best prompt', () => {
  test('keeps each earlier text under the next free name', async () => {
    const path = join(folder, 'best.prompt.txt');
    const results = [];
    for (const text of ['one', 'one', 'two', 'three']) results.push(await tryReplace(path, text, '--out'));
    const named = (number: number) => join(folder, `best.prompt.${number}.txt`);
    expect(results).toEqual([null, null, named(1), named(2)].map((earlier) => ({ earlier })));
    const texts = await Promise.all([path, named(1), named(2)].map((file) => readFile(file, 'utf8')));
    expect(texts).toEqual(['three', 'one', 'two']);
  });

  test('writes to what is no file without renaming it', async () => {
    expect(await tryReplace('/dev/null', 'text', '--out')).toEqual({ earlier: null });
  });

  test('leaves everything as it was where it cannot be written', async () => {
    const taken = join(folder, 'taken');
    await mkdir(taken);
    const before = await readdir(folder);
    for (const path of [taken, join(folder, 'missing', 'best.txt')])
      expect(await tryReplace(path, 'text', '--out')).toEqual({
        problem: expect.stringContaining(`--out ${path}`),
      });
    expect(await readdir(folder)).toEqual(before);
  });
});
