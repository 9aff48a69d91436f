import { startModelWorld, type ModelWorld } from './model.js';

/**
 * A graph world with a known optimum on one fake provider, which also replaces OpenAI. The model
 * `task` answers item k with the rule k mod `rules` if its messages contain it, else `unknown`. The
 * proposer `writer` adds the first missing rule to the prompt, or in edits a step that verifies by
 * it. `judge` scores the right rule 1, else 0, and names the rule.
 */
export interface GraphWorld extends ModelWorld {
  rules: number;
  /** The body of a graph job with this many tasks; without preflight: every call is a graph's. */
  job(tasks: number, more?: object): Record<string, unknown>;
}

export const firstPrompt = 'Name the rule of the item.';
/** Default number of rules. */
export const defaultRules = 3;

interface Message {
  content: string;
}

/** Whether the request is for a proposer, of sessions or graph jobs. */
export const isProposal = (messages: readonly Message[]): boolean =>
  messages.some(({ content }) => /Write a new instruction|The edits that there are/.test(content));

/** The default answer, in a world with this many rules, of the model recognized by the messages. */
export function graphAnswer(messages: readonly Message[], rules = defaultRules): string {
  const text = messages.map(({ content }) => content).join('\n');
  if (isProposal(messages)) return write(text);
  const ruleOf = (item: number) => `rule-${item % rules}`;
  return text.includes('# Output to judge') ? judgement(text, ruleOf) : solve(text, ruleOf);
}

/** The tasks of a world with this many rules, scored by comparison. */
export function graphDataset(tasks: number, rules = defaultRules) {
  const items = [...Array(tasks).keys()];
  return {
    initial_prompt: firstPrompt,
    tasks: items.map((item) => ({ id: `task-${item}`, input: { question: `What is item ${item}?` } })),
    gold_outputs: items.map((item) => ({ task_id: `task-${item}`, output: `rule-${item % rules}` })),
    verifier_config: { mode: 'exact' },
  };
}

export async function startGraphWorld(rules = defaultRules): Promise<GraphWorld> {
  const world = await startModelWorld(({ body }) => ({ text: graphAnswer(body.messages, rules) }));
  return {
    ...world,
    rules,
    job: (tasks, more = {}) => ({
      dataset: graphDataset(tasks, rules),
      policy_model: 'task',
      policy_provider: 'fake',
      proposer: { model: 'writer', provider: 'fake' },
      rollout_budget: 150,
      preflight: false,
      ...more,
    }),
  };
}

function solve(text: string, ruleOf: (item: number) => string): string {
  const rule = ruleOf(Number(/item (\d+)\?/.exec(text)![1]));
  return new RegExp(`${rule}\\b`).test(text) ? rule : 'unknown';
}

/** Expected rules in a request, in order. */
function expectedIn(text: string): string[] {
  return [...text.matchAll(/Expected: (rule-\d+)/g)].map(([, rule]) => rule!);
}

function write(text: string): string {
  const [, shown = ''] = /```\n([\s\S]*?)\n```/.exec(text) ?? [];
  const missing = expectedIn(text).find((rule) => !shown.includes(rule)) ?? 'nothing new';
  if (!text.includes('The edits that there are')) return `Here it is.\n\`\`\`\n${shown}\nThere is ${missing}.\n\`\`\``;
  const prompt = `Check {{draft}}, which was said to: {{question}} There is ${missing}.`;
  return `\`\`\`json\n${JSON.stringify([{ edit: 'verify', step: 'solve', prompt }])}\n\`\`\``;
}

function judgement(text: string, ruleOf: (item: number) => string): string {
  const rule = ruleOf(Number(/item (\d+)\?/.exec(text)![1]));
  const output = /# Output to judge\n> (.*)/.exec(text)![1]!;
  const names = [...text.matchAll(/# Criterion \d+\nName:\n> (.*)/g)].map(([, name]) => name!);
  const score = output.includes(rule) ? 1 : 0;
  return JSON.stringify({ criteria: names.map((name) => ({ name, reason: `Expected: ${rule}`, score })) });
}
