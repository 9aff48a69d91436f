import { startFakeModel, type FakeModel, type ModelReply, type ModelRequest } from '../fakes/model.js';

/**
 * A graph world with a known optimum on one fake provider, which also replaces OpenAI. Item k needs
 * the rule k mod `rules`; the model `task` answers with that rule if its messages contain it, else
 * `unknown`. The proposer `writer` adds the first missing rule, or, asked for edits, a step that
 * verifies by it. `judge` scores the right rule 1, else 0, and names the rule.
 */
export interface GraphWorld {
  model: FakeModel;
  /** Settings under which the service knows the models. */
  env: Record<string, string>;
  rules: number;
  /** The body of a graph job on so many tasks. */
  job(tasks: number, more?: object): Record<string, unknown>;
  /** What the models answer by their rules. */
  answer(request: ModelRequest): ModelReply;
  /** Resets the models to their rules and forgets their requests. */
  reset(): void;
  close(): Promise<void>;
}

export const firstPrompt = 'Name the rule of the item.';
/** So many rules there are to find where nothing else is said. */
export const defaultRules = 3;

interface Said {
  content: string;
}

/** Whether a proposer is asked, of sessions or of graph jobs. */
export const isProposal = (messages: readonly Said[]): boolean =>
  messages.some(({ content }) => /Write a new instruction|The edits that there are/.test(content));

/** The models' answers in a world with this many rules; the model is recognized by its messages. */
export function graphAnswer(messages: readonly Said[], rules = defaultRules): string {
  const said = messages.map(({ content }) => content).join('\n');
  if (isProposal(messages)) return write(said);
  const ruleOf = (item: number) => `rule-${item % rules}`;
  return said.includes('# Output to judge') ? judgement(said, ruleOf) : solve(said, ruleOf);
}

/** The tasks of a world of so many rules, scored by comparison. */
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
  const model = await startFakeModel();
  const world: GraphWorld = {
    model,
    env: {
      RATCHET_PROVIDERS: 'fake',
      FAKE_BASE_URL: model.url,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-test',
    },
    rules,
    job: (tasks, more = {}) => ({
      dataset: graphDataset(tasks, rules),
      policy_model: 'task',
      policy_provider: 'fake',
      proposer: { model: 'writer', provider: 'fake' },
      rollout_budget: 150,
      ...more,
    }),
    answer: ({ body }) => ({ text: graphAnswer(body.messages, rules) }),
    reset() {
      model.requests.length = 0;
      model.reply((request) => world.answer(request));
    },
    close: () => model.close(),
  };
  world.reset();
  return world;
}

function solve(said: string, ruleOf: (item: number) => string): string {
  const rule = ruleOf(Number(/item (\d+)\?/.exec(said)![1]));
  return new RegExp(`${rule}\\b`).test(said) ? rule : 'unknown';
}

/** The rules that outputs were expected to be, in the order in which they are shown. */
function expectedIn(said: string): string[] {
  return [...said.matchAll(/Expected: (rule-\d+)/g)].map(([, rule]) => rule!);
}

function write(said: string): string {
  const [, shown = ''] = /```\n([\s\S]*?)\n```/.exec(said) ?? [];
  const missing = expectedIn(said).find((rule) => !shown.includes(rule)) ?? 'nothing new';
  if (!said.includes('The edits that there are')) return `Here it is.\n\`\`\`\n${shown}\nThere is ${missing}.\n\`\`\``;
  const prompt = `Check {{draft}}, which was said to: {{question}} There is ${missing}.`;
  return `\`\`\`json\n${JSON.stringify([{ edit: 'verify', step: 'solve', prompt }])}\n\`\`\``;
}

function judgement(said: string, ruleOf: (item: number) => string): string {
  const rule = ruleOf(Number(/item (\d+)\?/.exec(said)![1]));
  const output = /# Output to judge\n> (.*)/.exec(said)![1]!;
  const names = [...said.matchAll(/# Criterion \d+\nName:\n> (.*)/g)].map(([, name]) => name!);
  const score = output.includes(rule) ? 1 : 0;
  return JSON.stringify({ criteria: names.map((name) => ({ name, reason: `Expected: ${rule}`, score })) });
}
