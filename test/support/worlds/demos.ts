import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';

/**
 * A world that rewards demonstrations. Seed s asks for the word of topic s mod `topics` through the
 * proxy. The model knows a word from an instruction line or a demonstration, else guesses every
 * second question. The proposer adds the word of one good example or of one failure that the prompt
 * lacks.
 */
export interface DemosWorld {
  container: FakeContainer;
  model: FakeModel;
  /** What the container does, as long as nobody has it behave otherwise. */
  ask: Behaviour;
  env: Record<string, string>;
  job: { container_url: string; policy: { provider: string; model: string } };
  topics: number;
  close(): Promise<void>;
}

export const demosBaseline = 'Say the word on the topic.';
export const wordOf = (topic: number) => `word-${(topic * 37) % 101}`;

/** Whether the container tells which answer was right. */
export interface DemosWorldOptions {
  labeled?: boolean;
  topics?: number;
}

export async function startDemosWorld({ labeled = false, topics = 6 }: DemosWorldOptions = {}): Promise<DemosWorld> {
  const ask: Behaviour = async (call, response) => {
    const { inference_url: url, inference_api_key: key, prompt_template: template } = call.body.policy.config;
    const system = template?.sections[0]?.content ?? demosBaseline;
    const topic = call.seed % topics;
    const said = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: `Question ${call.seed} on topic-${topic}.` },
        ],
      }),
    });
    const { choices } = (await said.json()) as { choices?: { message: { content: string } }[] };
    const isRight = choices?.[0]?.message.content === wordOf(topic);
    const feedback = isRight ? 'right' : `topic-${topic} is ${wordOf(topic)}.`;
    await answers.reward(isRight ? 1 : 0, feedback, labeled ? { expected: wordOf(topic) } : {})(call, response);
  };
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: demosBaseline }],
    behave: () => ask,
  });
  const model = await startFakeModel((request) => ({ text: answerTo(request) }));
  return {
    container,
    model,
    ask,
    env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url },
    job: { container_url: container.url, policy: { provider: 'fake', model: 'any' } },
    topics,
    async close() {
      await container.close();
      await model.close();
    },
  };
}

/** What this world's model answers to a rollout, or as the writer of instructions. */
export function answerTo({ body: { messages } }: Pick<ModelRequest, 'body'>): string {
  const last = messages.at(-1)!.content;
  const [, question, topic] = /^Question (\d+) on topic-(\d+)\.$/.exec(last) ?? [];
  if (topic === undefined) return write(last);
  const [system] = messages;
  const stated = new RegExp(`topic-${topic} is (word-\\d+)\\.`).exec(system!.content)?.[1];
  if (stated) return stated;
  const shown = messages.findIndex(({ role, content }) => role === 'user' && content.endsWith(`on topic-${topic}.`));
  if (shown < messages.length - 1) return messages[shown + 1]!.content;
  return Number(question) % 2 === 0 ? wordOf(Number(topic)) : 'no idea';
}

/** Whether the model is asked by the search, not by a rollout. */
export const isQuestion = ({ body: { messages } }: Pick<ModelRequest, 'body'>) =>
  !messages.at(-1)!.content.startsWith('Question ');

/** A better instruction, or what the task is about. */
function write(asked: string): string {
  const current = /```\n([\s\S]*?)\n```/.exec(asked)?.[1];
  if (current === undefined) return 'Questions on topics, each of which has a word.';
  const failures = [...asked.matchAll(/(topic-\d+) is (word-\d+)\./g)].map(([, topic, word]) => [topic, word]);
  const good = [...asked.matchAll(/on (topic-\d+)\.\n## Generated Outputs\n> (word-\d+)/g)].map(([, topic, word]) => [
    topic,
    word,
  ]);
  const lesson = [...failures, ...good].find(([topic]) => !current.includes(`${topic} is`));
  return `\`\`\`\n${current}\n${lesson ? `${lesson[0]} is ${lesson[1]}.` : 'Take care.'}\n\`\`\``;
}
