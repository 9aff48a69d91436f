/** The folder of an import: the files of a task, as `ratchet init` writes them. */
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../service/config.js';
import { anyFiles } from '../task/files.js';
import { reasonOf, writeText } from '../task/output-file.js';
import { promptText } from '../task/prompt-file.js';
import { projectFile, type Project, type ReadTask } from '../task/task.js';
import type { Imported } from './imported.js';

const dataFile = 'data.jsonl';
const promptFile = 'prompt.json';

/** A name of 1 to 60 letters, digits, `.`, `_` and `-`. */
export function folderOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\w.]+/)
    .filter((word) => /\w/.test(word))
    .join('-')
    .slice(0, 60);
  return /^\w/.test(plain) ? plain : `import${plain}`;
}

export function projectOf({ rows, served, scorer, expected, input }: Imported): Project {
  return {
    ...(rows.length > 0 && { data: dataFile }),
    ...(served && { prompt: promptFile }),
    ...(input !== null && { input }),
    ...(expected !== null && expected !== 'expected' && { expected }),
    ...(scorer && { scorer }),
    ...(served?.model != null && { model: served.model }),
    ...(served && Object.keys(served.policy).length > 0 && { policy: served.policy }),
  };
}

/** The task as the commands would read it from the folder. */
export function taskOf(imported: Imported): ReadTask {
  return {
    ...projectOf(imported),
    files: anyFiles,
    messages: imported.served,
    rows: imported.rows.map(({ value }) => value),
    places: imported.rows.map(({ place }) => place),
  };
}

/** Throws a ConfigError if something of that name is there. */
export async function requireFree(folder: string): Promise<void> {
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  if (exists) throw new ConfigError(`${folder} exists already; name another folder: --name NAME`);
}

/** Writes the folder; returns the names of its files. */
export async function writeProject(folder: string, imported: Imported): Promise<string[]> {
  const { rows, served } = imported;
  const files = {
    ...(rows.length > 0 && { [dataFile]: rows.map(({ value }) => `${JSON.stringify(value)}\n`).join('') }),
    ...(served && { [promptFile]: promptText(served, promptFile) }),
    [projectFile]: `${JSON.stringify(projectOf(imported), null, 2)}\n`,
  };
  await mkdir(folder).catch((error: unknown) => {
    throw new ConfigError(`the folder ${folder} cannot be created: ${reasonOf(error)}`);
  });
  for (const [name, text] of Object.entries(files)) await writeText(join(folder, name), text, 'the import');
  return Object.keys(files);
}
