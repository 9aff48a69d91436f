/** A prompt as text, in the forms of programs and tools, and as a pull request. */
import { promptfooConfig } from '../../../../../src/cli/export/promptfoo.js';
import type { PromptfooRows } from '../../../../../src/cli/export/promptfoo-tests.js';
import type { Message } from '../../../../../src/core/prompts/message.js';
import { pullRequestText, type ReportedEdit } from '../../../../../src/core/prompts/changes/report.js';

interface Prompt {
  /** Rows for tests; null: a container has them. */
  tests: PromptfooRows | null;
  messages: readonly Message[];
  policy: { provider: string; model: string };
  /** The columns of the rows; empty: a container has them. */
  inputs: readonly string[];
}

interface Report {
  title: string;
  edits: readonly ReportedEdit[];
  verdict: string | null;
  jobId: string;
}

/** A prompt, or the prompts of the steps of a graph. */
export type Copied = Prompt | { parts: readonly { component: string; text: string }[] };
export type CopySource = Copied & Report;

export interface CopyForm {
  label: string;
  text: string;
}

const plain = (messages: readonly Message[]) => messages.map(({ role, content }) => ({ role, content }));
const json = (value: unknown) => JSON.stringify(value, null, 2);

/** The forms in which a prompt is copied. */
export function copyForms(source: CopySource): CopyForm[] {
  const report = { label: 'Pull request', text: pullText(source) };
  if ('parts' in source) {
    const text = source.parts.map(({ component, text }) => `${component}\n\n${text}`).join('\n\n');
    return [{ label: 'Text', text }, { label: 'JSON', text: json(source.parts) }, report];
  }
  return [
    { label: 'Text', text: source.messages.map(({ content }) => content).join('\n\n') },
    { label: 'Messages (JSON)', text: json({ messages: source.messages }) },
    { label: 'Python', text: pythonText(source) },
    { label: 'curl', text: curlText(source) },
    { label: 'promptfoo', text: promptfooConfig(source) },
    report,
  ];
}

function pythonText({ messages, policy }: Prompt): string {
  // Strings of JSON are strings of Python.
  return `from openai import OpenAI

messages = ${json(plain(messages))}

client = OpenAI()  # reads OPENAI_API_KEY and OPENAI_BASE_URL
answer = client.chat.completions.create(model=${JSON.stringify(policy.model)}, messages=messages)
print(answer.choices[0].message.content)
`;
}

function curlText({ messages, policy }: Prompt): string {
  const body = json({ model: policy.model, messages: plain(messages) });
  return `curl "\${OPENAI_BASE_URL:-https://api.openai.com/v1}/chat/completions" \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", `'\\''`)}'
`;
}

function pullText({ title, edits, verdict, jobId }: Report): string {
  const more = jobId.startsWith('ses_') ? [`ratchet export ${jobId} --to prompt.txt`] : [];
  return pullRequestText({ title, edits, verdict, commands: [`ratchet diff ${jobId}`, ...more] });
}
