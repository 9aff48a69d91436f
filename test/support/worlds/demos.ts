import { answers, startFakeContainer, type Behaviour, type FakeContainer } from '../fakes/container.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../fakes/model.js';

/**
 * A world that rewards demonstrations. Seed s asks for the word of topic s mod `topics`. The model
 * knows words of instruction and demonstrations, else guesses every second question correctly. The
 * proposer adds one missing word of a failure or a good example.
 */
export interface DemosWorld {
  container: FakeContainer;
  model: FakeModel;
  /** The container's default behaviour. */
  ask: Behaviour;
  env: Record<string, string>;
  job: { container_url: string; policy: { provider: string; model: string }; preflight: false };
  topics: number;
  close(): Promise<void>;
}

export const demosBaseline = 'Say the word on the topic.';
export const wordOf = (topic: number) => `word-${(topic * 37) % 101}`;

/** `labeled`: the container reports the expected answer. */
export interface DemosWorldOptions {
  labeled?: boolean;
  topics?: number;
}

export async function startDemosWorld({ labeled = false, topics = 6 }: DemosWorldOptions = {}): Promise<DemosWorld> {
  const ask: Behaviour = async (call, response) => {
    const { inference_url: url, inference_api_key: key, prompt_template: template } = call.body.policy.config;
    const system = template?.sections[0]?.content ?? demosBaseline;
    const topic = call.seed % topics;
    const completion = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: `Question ${call.seed} on topic-${topic}.` },
        ],
      }),
    });
    const { choices } = (await completion.json()) as { choices?: { message: { content: string } }[] };
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
    job: { container_url: container.url, policy: { provider: 'fake', model: 'any' }, preflight: false },
    topics,
    async close() {
      await container.close();
      await model.close();
    },
  };
}

/** The model's answer to a rollout or a request of the search. */
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

/** Whether the request is of the search, not of a rollout. */
export const isQuestion = ({ body: { messages } }: Pick<ModelRequest, 'body'>) =>
  !messages.at(-1)!.content.startsWith('Question ');

/** A better instruction, or a description of the task. */
function write(message: string): string {
  const current = /```\n([\s\S]*?)\n```/.exec(message)?.[1];
  if (current === undefined) return 'Questions on topics, each of which has a word.';
  const failures = [...message.matchAll(/(topic-\d+) is (word-\d+)\./g)].map(([, topic, word]) => [topic, word]);
  const good = [...message.matchAll(/on (topic-\d+)\.\n.*\n> (word-\d+)/g)].map(([, topic, word]) => [topic, word]);
  const lesson = [...failures, ...good].find(([topic]) => !current.includes(`${topic} is`));
  return `\`\`\`\n${current}\n${lesson ? `${lesson[0]} is ${lesson[1]}.` : 'Take care.'}\n\`\`\``;
}
