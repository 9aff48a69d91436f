/** The best prompt or the rollouts of a job in the forms of other tools. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { EvaluationHandle, type SessionHandle, type Ratchet } from '../../client/index.js';
import { sessionOfCandidate } from '../../core/jobs/ids.js';
import { jobKinds, kindOf, type JobKind } from '../../core/jobs/kinds.js';
import { inputName, isFixed, likelyInput } from '../../core/prompts/row-template.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { tracesIn } from '../export/archive.js';
import type { ExportForm, PromptForm } from '../export/forms.js';
import { langfuseBatches } from '../export/langfuse-traces.js';
import { mlflowEvaluation, mlflowSession } from '../export/mlflow.js';
import { promptfooConfig } from '../export/promptfoo.js';
import { promptfooRows, type PromptfooRows } from '../export/promptfoo-tests.js';
import { note, say } from '../service/output.js';
import { reasonOf, requireWritable, writeText } from '../task/output-file.js';
import { promptText, type Prompt } from '../task/prompt-file.js';

interface Source extends Prompt {
  policy: { provider: string; model: string };
  sessionId: string;
  /** The columns of the rows. */
  inputs: readonly string[];
  tests: PromptfooRows | null;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const prompts: Record<PromptForm, (source: Source) => string> = {
  'prompt.txt': ({ messages }) => promptText({ messages }, 'prompt.txt'),
  json: ({ messages }) => json({ messages }),
  promptfoo: promptfooConfig,
  /** The body of Langfuse's `POST /api/public/v2/prompts`. */
  langfuse: ({ messages, policy, sessionId }) =>
    json({ type: 'chat', name: sessionId, prompt: messages, config: { model: policy.model }, labels: [] }),
  dspy: dspyProgram,
};

/** Writes to a file, or to stdout. */
export async function exportJob(id: string, { to, out }: { to: ExportForm; out?: string }): Promise<void> {
  const ofCandidate = to in prompts ? sessionOfCandidate(id) : null;
  const kind = kindOf(ofCandidate ?? id);
  if (kind === null || !kindsOf(to).includes(kind)) {
    const nouns = kindsOf(to).map((of) => `${of === 'evaluation' ? 'an' : 'a'} ${jobKinds[of].noun}`);
    const ids = [...nouns, ...(to in prompts ? ['a candidate'] : [])];
    throw new ConfigError(`${id.slice(0, 100)} is no id of ${anyOf(ids)}`);
  }
  if (out !== undefined) await requireWritable(out, '--out');
  await withService(async (client) => {
    if (to === 'report') return write(await reportOf(client, kind, id), out);
    const job = kind === 'session' ? client.sessions.handle(id) : client.evaluations.handle(id);
    if (to === 'langfuse-traces') await writeLines(langfuseTraces(job), out);
    else if (to === 'mlflow') await write(json(await mlflow(job)), out);
    else await write(await prompt(client, ofCandidate ?? id, ofCandidate && id, to), out);
  });
}

/** Kinds of jobs that have a form. */
function kindsOf(form: ExportForm): JobKind[] {
  if (form in prompts) return ['session'];
  return form === 'report' ? ['session', 'evaluation', 'graph'] : ['session', 'evaluation'];
}

const anyOf = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

function reportOf(client: Ratchet, kind: JobKind, id: string): Promise<string> {
  if (kind === 'graph') return client.graphs.handle(id).report();
  return kind === 'session' ? client.sessions.handle(id).report() : client.evaluations.handle(id).report();
}

/** The prompt of a candidate; null: of the best one. */
async function prompt(
  client: Ratchet,
  sessionId: string,
  candidateId: string | null,
  form: PromptForm,
): Promise<string> {
  const session = client.sessions.handle(sessionId);
  const wanted = candidateId === null ? session.results() : session.candidate(candidateId);
  const [{ policy, dataset }, found] = await Promise.all([session.get(), wanted]);
  const messages = 'best_prompt' in found ? found.best_prompt?.messages : found.messages;
  if (!messages) throw new FailedJob(`The session ${sessionId} has no evaluated prompt yet.`);
  const { columns } = dataset ? await client.datasets.get(dataset.dataset_id) : { columns: [] };
  const inputs = dataset ? [inputName, ...columns.map(({ name }) => name)] : [];
  const tests = dataset && form === 'promptfoo' ? await promptfooRows(client, sessionId, dataset.dataset_id) : null;
  return prompts[form]({ messages, policy, sessionId, inputs, tests });
}

async function mlflow(job: SessionHandle | EvaluationHandle): Promise<object> {
  if (job instanceof EvaluationHandle) return mlflowEvaluation(await job.get());
  return mlflowSession(...(await Promise.all([job.get(), job.results()])));
}

async function* langfuseTraces(job: SessionHandle | EvaluationHandle): AsyncGenerator<string> {
  const { body } = await job.traces();
  yield* langfuseBatches(tracesIn(Readable.fromWeb(body as ReadableStream)), (id, bytes) =>
    note(`${id} has ${bytes} bytes, more than Langfuse takes: written without its content.`),
  );
}

async function write(text: string, out: string | undefined): Promise<void> {
  if (out === undefined) return say(text.trimEnd());
  await writeText(out, text, '--out');
  note(`Wrote ${out}.`);
}

async function writeLines(lines: AsyncIterable<string>, out: string | undefined): Promise<void> {
  if (out === undefined) return pipeline(Readable.from(lines), process.stdout, { end: false });
  await pipeline(Readable.from(lines), createWriteStream(out)).catch((error: unknown) => {
    throw new FailedJob(`--out ${out} was not written: ${reasonOf(error)}`);
  });
  note(`Wrote ${out}.`);
}

/** The saved state of a `dspy.Predict` with the fields `input` and `answer`. */
function dspyProgram({ messages }: Source): string {
  const question = messages.at(-1)!;
  const isInput = question.role === 'user' && isFixed(question.content, likelyInput);
  const instructions = messages.filter(({ role }, at) => role === 'system' || (at === messages.length - 1 && !isInput));
  const demos = messages.flatMap(({ role, content }, at) => {
    const before = messages[at - 1];
    return role === 'assistant' && before?.role === 'user' ? [{ input: before.content, answer: content }] : [];
  });
  const fields = ['input', 'answer'].map((name) => ({
    prefix: `${name[0]!.toUpperCase()}${name.slice(1)}:`,
    description: `\${${name}}`,
  }));
  // Without versions DSPy does not warn that they differ.
  const metadata = { dependency_versions: {} };
  const text = instructions.map(({ content }) => content).join('\n\n');
  return json({ traces: [], train: [], demos, signature: { instructions: text, fields }, lm: null, metadata });
}
