import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../service/config.js';
import { say } from '../service/output.js';
import { reasonOf, writeText } from '../task/output-file.js';
import { sampleFields, sampleOf } from '../task/sample.js';
import { projectFile, type Project } from '../task/task.js';

const sample = new URL('../../../examples/intents/data.jsonl', import.meta.url);

/** Writes a sample project: rows, a prompt and the project's file. Overwrites nothing. */
export async function init(folder: string): Promise<void> {
  const { rows, prompt } = sampleOf(await readFile(sample, 'utf8'));
  const project: Project = { data: 'data.jsonl', prompt: 'prompt.txt', ...sampleFields };
  const files = {
    'data.jsonl': rows,
    'prompt.txt': prompt,
    [projectFile]: `${JSON.stringify(project, null, 2)}\n`,
  };
  for (const name of Object.keys(files)) {
    const path = join(folder, name);
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) throw new ConfigError(`${path} exists already; name another folder: ratchet init FOLDER`);
  }
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new ConfigError(`the folder ${folder} cannot be created: ${reasonOf(error)}`);
  });
  for (const [name, text] of Object.entries(files)) await writeText(join(folder, name), text, 'the sample');
  say(`Wrote ${Object.keys(files).join(', ')}${folder === '.' ? '' : ` to ${folder}`}.`);
  say(`Next: ${folder === '.' ? '' : `cd ${folder} && `}ratchet optimize`);
}
