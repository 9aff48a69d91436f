/** The best prompt of a session in the forms of other tools. */
import { writeFile } from 'node:fs/promises';
import type { z } from 'zod';
import type { sessionResultsSchema, sessionSchema } from '../../contracts/sessions/session.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { isFixed } from '../../core/prompts/row-template.js';
import { ConfigError } from '../../config.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { note, say } from '../service/output.js';
import { promptText, type Prompt } from '../task/prompt-file.js';

interface Source extends Prompt {
  policy: { provider: string; model: string };
  sessionId: string;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const writers = {
  'prompt.txt': ({ messages }: Source) => promptText({ messages }, 'prompt.txt'),
  json: ({ messages }: Source) => json({ messages }),
  /** A promptfooconfig.yaml: JSON is YAML. */
  promptfoo: ({ messages, policy }: Source) =>
    json({ prompts: [JSON.stringify(messages)], providers: [`${policy.provider}:${policy.model}`] }),
  /** The body of Langfuse's `POST /api/public/v2/prompts`. */
  langfuse: ({ messages, policy, sessionId }: Source) =>
    json({ type: 'chat', name: sessionId, prompt: messages, config: { model: policy.model }, labels: [] }),
  dspy: dspyProgram,
};

export const exportForms = Object.keys(writers) as (keyof typeof writers)[];

/** Writes to a file, or to stdout. */
export async function exportPrompt(id: string, { to, out }: { to: keyof typeof writers; out?: string }): Promise<void> {
  if (kindOf(id) !== 'session') throw new ConfigError(`${id.slice(0, 100)} is no id of a session`);
  await withService(async (api) => {
    const path = `${jobKinds.session.path}/${id}`;
    const [{ policy }, { best_prompt: best }] = await Promise.all([
      api.call<z.output<typeof sessionSchema>>('GET', path),
      api.call<z.output<typeof sessionResultsSchema>>('GET', `${path}/results`),
    ]);
    if (!best) throw new FailedJob(`The session ${id} has no evaluated prompt yet.`);
    const text = writers[to]({ messages: best.messages, policy, sessionId: id });
    if (out === undefined) return say(text.trimEnd());
    await writeFile(out, text);
    note(`Wrote ${out}.`);
  });
}

/** The saved state of a `dspy.Predict` with the fields `input` and `answer`. */
function dspyProgram({ messages }: Source): string {
  const question = messages.at(-1)!;
  const isInput = question.role === 'user' && isFixed(question.content);
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
