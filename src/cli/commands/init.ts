import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../config.js';
import { say } from '../service/output.js';
import { projectFile, type Project } from '../task/task.js';

const sample = new URL('../../../examples/intents/data.jsonl', import.meta.url);
const teams = 5;
const rows = 100;

/** Writes a sample project: rows, a prompt and the project's file. Overwrites nothing. */
export async function init(folder: string): Promise<void> {
  const all = (await readFile(sample, 'utf8')).trim().split('\n');
  const labelOf = (line: string) => (JSON.parse(line) as { label: string }).label;
  const labels = [...new Set(all.map(labelOf))].sort().slice(0, teams);
  const chosen = all.filter((line) => labels.includes(labelOf(line))).slice(0, rows);
  const project: Project = {
    data: 'data.jsonl',
    prompt: 'prompt.txt',
    input: 'text',
    expected: 'label',
    scorer: 'exact',
    model: 'local',
    budget: 300,
  };
  const files = {
    'data.jsonl': `${chosen.join('\n')}\n`,
    'prompt.txt': `Classify the message. Answer with exactly one of the labels, and nothing else.\n\nLabels: ${labels.join(', ')}\n`,
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
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  say(`Wrote ${Object.keys(files).join(', ')}${folder === '.' ? '' : ` to ${folder}`}.`);
  say(`Next: ${folder === '.' ? '' : `cd ${folder} && `}ratchet optimize`);
}
