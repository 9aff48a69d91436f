/** Takes over data, prompts and graders of OpenAI and promptfoo. */
import type { Message } from '../../core/prompts/message.js';
import { likelyInput, servedMessages } from '../../core/prompts/row-template.js';
import { Report, type Imported, type ImportedPrompt } from '../import/imported.js';
import { folderOf, requireFree, taskOf, writeProject } from '../import/project.js';
import { readImport, variablesOf } from '../import/read.js';
import { readSources } from '../import/source.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import { createDeploymentSchema } from '../../kinds/deployment/contract/deployment.js';
import { ConfigError } from '../../service/config.js';
import type { CommandClient } from '../service/client.js';
import { withService, type ServiceOfCommand } from '../service/connect.js';
import { note, say } from '../service/output.js';
import { policyOf } from '../task/policy.js';
import { deployed, keyFor, notePassing, printAddress } from './deploy.js';

export interface ImportOptions {
  /** The folder; of several evals or prompts, the one that is taken. */
  name?: string;
  /** The name under which the prompt is served. */
  deploy?: string;
  dryRun?: boolean;
}

export async function importSources(
  sources: readonly string[],
  { name, deploy, dryRun = false }: ImportOptions,
): Promise<void> {
  const report = new Report();
  const imported = await readImport(await readSources(sources), name, report);
  const folder = folderOf(name ?? imported.name);
  await requireFree(folder);
  if (deploy !== undefined) requireDeployable(imported, deploy);
  await checkRows(imported, report);
  print(imported, report);
  if (dryRun) return say(`Nothing is written or sent: --dry-run. The folder would be ${folder}.`);
  if (imported.rows.length > 0 || deploy !== undefined)
    await withService(async (client, service) => {
      if (imported.rows.length > 0) await upload(client, imported);
      if (deploy !== undefined) await serve(client, service, { ...imported, from: sources.join(', '), name: deploy });
    });
  // Last, so that a refusal of the service leaves no folder in the way of the next try.
  const files = await writeProject(folder, imported);
  say(`Wrote ${files.map((file) => `${folder}/${file}`).join(', ')}.`);
  printNext(imported, folder, deploy);
}

function requireDeployable({ served, what, prompts }: Imported, name: string): void {
  if (!served) throw new ConfigError(`--deploy: ${what} has no prompt to serve`);
  if (served.model === null)
    throw new ConfigError(
      `--deploy: ${what} names no model; import it without --deploy, and serve it with "ratchet deploy FILE --name NAME --model provider/model"`,
    );
  for (const prompt of prompts) {
    const source = { messages: servedOf(prompt), policy: policyOf(prompt.model ?? served.model, prompt.policy) };
    const { error } = createDeploymentSchema.safeParse({ name, source });
    if (!error) continue;
    const faults = error.issues.map(({ path, message }) => `${path[0] === 'name' ? name : path.join('.')} ${message}`);
    throw new ConfigError(`--deploy: ${faults.join('; ')}`);
  }
}

/** Refuses rows, prompt and scorer that an evaluation would refuse. */
async function checkRows(imported: Imported, report: Report): Promise<void> {
  const { rows, served } = imported;
  if (rows.length === 0) return;
  const task = taskOf(imported);
  if (!served) {
    const { heldRows } = await import('../task/rows-file.js');
    return void (await heldRows(task.rows!, task.data!, task.places));
  }
  const { previewEvaluation } = await import('../task/preview.js');
  const { warnings } = await previewEvaluation(task, served, {});
  for (const warning of warnings) report.note(warning);
}

function print({ what, rows, served, prompts, scorer, expected }: Imported, { notes, left }: Report): void {
  const columns = [...new Set(rows.flatMap(({ value }) => Object.keys(value)))];
  const shown = columns.length > 10 ? [...columns.slice(0, 10), '…'] : columns;
  say(`Read ${what}.`);
  if (rows.length > 0) say(`Rows: ${rows.length}, with the columns ${shown.join(', ')}`);
  if (served) {
    const settings = Object.keys(served.policy);
    const model = served.model === null ? 'no model is named' : served.model;
    const count = served.messages.length;
    say(
      `Prompt: ${count} message${count === 1 ? '' : 's'}; ${model}${settings.length > 0 ? ` with ${settings.join(', ')}` : ''}`,
    );
  }
  if (prompts.length > 1)
    say(`Versions: ${prompts.map(({ version }) => version ?? '?').join(', ')}; in use: ${served!.version ?? '?'}`);
  if (rows.length > 0)
    say(
      `Scorer: ${scorer ? JSON.stringify(scorer) : 'none; exact by default'}${expected === null ? '' : `, right answers in ${expected}`}`,
    );
  for (const line of left) say(`Left out: ${line}`);
  for (const line of notes) note(`Note: ${line}`);
}

async function upload(client: CommandClient, { rows }: Imported): Promise<void> {
  const { dataset_id: id, num_rows: count } = await client.datasets.upload(rows.map(({ value }) => value));
  say(`Data set ${id}: ${count} rows`);
}

type Served = Imported & { from: string };

/** One version after the other, and the one that is in use under the name. */
async function serve(client: CommandClient, service: ServiceOfCommand, { prompts, served, from, name }: Served) {
  let wanted: number | null = null;
  let last = null;
  for (const prompt of prompts) {
    const policy = policyOf(prompt.model ?? served!.model!, prompt.policy);
    const of = prompt.version === null ? '' : `, version ${prompt.version} there`;
    const reason = `Imported from ${from.slice(0, 1_000)}${of}`;
    last = await deployed(client, { name, source: { messages: servedOf(prompt), policy }, reason }, () => undefined);
    if (prompts.length > 1) say(`Version ${last.version} of ${name} is version ${prompt.version ?? '?'} at OpenAI.`);
    if (prompt === served) wanted = last.version;
  }
  if (wanted !== last!.version)
    await client.deployments.handle(name).setLabel('production', { version: wanted!, reason: 'In use at OpenAI' });
  const variables = variablesOf({ ...served!, messages: servedOf(served!) });
  if (variables.length === 0) printAddress(last!, service);
  else printPrompt(name, variables, service, last!.name_chat_completions_url);
  notePassing(name, service);
}

/** Without messages that callers bring, unless other messages have variables, too. */
function servedOf(prompt: ImportedPrompt): Message[] {
  const messages = servedMessages(prompt.messages, likelyInput);
  const isWhole = messages.length > 0 && variablesOf({ ...prompt, messages }).length === 0;
  return [...(isWhole ? messages : prompt.messages)];
}

function printPrompt(name: string, variables: readonly string[], { dataDir }: ServiceOfCommand, url: string): void {
  const base = url.split(jobKinds.deployment.path)[0];
  say(`${name} has the variables ${variables.join(', ')}, which your application fills in: it reads the prompt,`);
  say(`  curl ${base}${jobKinds.deployment.path}/${name}/prompt -H "Authorization: Bearer ${keyFor(dataDir)}"`);
  say(
    'or by client.prompts of either client, and calls the model. Calls of the deployment leave {{variables}} as they are.',
  );
}

function printNext({ rows, served }: Imported, folder: string, deploy: string | undefined): void {
  if (rows.length > 0 && served) say(`Next: cd ${folder} && ratchet eval; for a better prompt, ratchet optimize`);
  else if (rows.length > 0)
    say(`Next: write ${folder}/prompt.txt, then cd ${folder} && ratchet eval --prompt prompt.txt`);
  else if (deploy === undefined)
    say(
      `Next: ratchet import … --deploy NAME serves it; ratchet optimize --prompt ${folder}/prompt.json --data ROWS improves it`,
    );
  else say(`Next: ratchet optimize --prompt ${folder}/prompt.json --data ROWS improves it on rows of yours`);
}
