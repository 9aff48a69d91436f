import { answers, startFakeContainer, type Behaviour } from '../../../../support/fakes/container.js';
import type { ModelRequest } from '../../../../support/fakes/model.js';
import { exampleModelName } from '../../../../../src/util/example-models.js';
import { gate } from '../../../../support/gate.js';
import { startModelWorld } from '../../../../support/worlds/model.js';
import { currentOf, isProposal } from '../../../../support/worlds/asked.js';

const capitals: Record<string, string> = {
  France: 'Paris',
  Peru: 'Lima',
  Japan: 'Tokyo',
  Egypt: 'Cairo',
  Kenya: 'Nairobi',
  Chile: 'Santiago',
  Norway: 'Oslo',
  Ghana: 'Accra',
};
const countries = Object.keys(capitals);

/** Rows of a data set; their numbers are the seeds of the container. */
export const rows = countries.map((country) => ({
  input: `What is the capital of ${country}?`,
  expected: capitals[country]!,
}));

export const policy = { model: exampleModelName, provider: 'openai' };
/** A model that answers when the world is released. */
export const heldModel = 'gpt-6-sol';
/** The `env_name` of rollouts that end when the world is released. */
export const heldSplit = 'validation';

const better = 'Answer with the name of the city alone.';

function answerTo({ body: { messages } }: ModelRequest): string {
  const text = messages.map(({ content }) => content).join('\n');
  if (isProposal(messages)) {
    return `\`\`\`\n${better}${currentOf(messages).includes('{{input}}') ? ' {{input}}' : ''}\n\`\`\``;
  }
  const country = countries.find((name) => text.includes(name));
  if (country === undefined) return 'ok';
  return text.includes(better) || countries.indexOf(country) % 4 < 2 ? capitals[country]! : 'It is a large city.';
}

/** A model that knows capitals, and a container that asks it for them. */
export async function startCapitals() {
  const release = gate();
  const world = await startModelWorld();
  world.model.reply(async (request) => {
    if (request.body.model === heldModel) await release.opened;
    return { text: answerTo(request), fields: { created: 1_767_603_600, system_fingerprint: 'fp_3f58d112f7' } };
  });
  const ask: Behaviour = async (call, response) => {
    if (call.body.env.env_name === heldSplit) await release.opened;
    const { inference_url: url, inference_api_key: key, prompt_template: template } = call.body.policy.config;
    const { input, expected } = rows[call.seed]!;
    const system = template?.sections[0]?.content ?? 'Answer the question.';
    const answer = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: input },
        ],
      }),
    });
    const { choices } = (await answer.json()) as { choices?: { message: { content: string } }[] };
    const isRight = choices?.[0]?.message.content === expected;
    await answers.reward(isRight ? 1 : 0, isRight ? 'Correct.' : `Expected ${expected}.`)(call, response);
  };
  const container = await startFakeContainer({
    prompt: [{ role: 'system', content: 'Answer the question.' }],
    behave: () => ask,
  });
  return {
    container,
    env: world.env,
    release: () => release.open(),
    async close() {
      release.open();
      await Promise.all([container.close(), world.close()]);
    },
  };
}
export type Capitals = Awaited<ReturnType<typeof startCapitals>>;
