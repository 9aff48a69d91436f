/** Frozen worlds: a hash of their behaviour prevents comparing results across changes. */
import { range } from '../curve/arguments.js';
import { createHash } from 'node:crypto';
import { buildEditProposal } from '../../src/core/graphs/edits/proposal.js';
import { graphText } from '../../src/core/graphs/text.js';
import { lookupKinds, openLookupWorld, promptGraph, type LookupWorld } from './lookups.js';
import { readPrompt, writePrompt } from './statements.js';
import { promptMessages } from './task-texts.js';
import { openTaskWorld, taskKinds, type TaskWorld } from './tasks.js';
import { instances } from './topics.js';
import { openWorld, worldKinds, type Texts, type World } from './world.js';

/** Worlds for tuning optimizers. */
export const devSeeds = range(1, 21);
/** Worlds for comparing optimizers; never used for tuning. */
const testSeeds = range(1001, 1021);

/** Expected `worldsHash`; changing it changes the benchmark. */
export const frozenHash = 'cfb694a818c3447949faae15caf96b3217530707959bef26328714dbb52b4cf6';

/** Worlds with a task model for comparing optimizers; tune on `devSeeds`. */
const taskTestSeeds = range(2001, 2021);

/** Expected `taskWorldsHash`. */
export const frozenTaskHash = '4bf2927cb8f2609e0af11c31f5030e7a8669100095d5f52ad60db58a18af589b';

/** The hash of worlds with a task model. */
export function taskWorldsHash(seeds: readonly number[] = [...devSeeds, ...taskTestSeeds]): string {
  const hash = createHash('sha256');
  for (const kind of taskKinds)
    for (const seed of seeds) hash.update(JSON.stringify(taskBehaviour(openTaskWorld(kind, seed))));
  return hash.digest('hex');
}

/** Worlds of lookups for comparing optimizers; tune on `devSeeds`. */
const lookupTestSeeds = range(3001, 3021);

/** Expected `lookupWorldsHash`. */
export const frozenLookupHash = 'f9ee967d9ec7dfec24d301a0099e63c32f7a1c2c087bd783ae26c2f4b104f608';

/** The hash of worlds of lookups. */
export function lookupWorldsHash(seeds: readonly number[] = [...devSeeds, ...lookupTestSeeds]): string {
  const hash = createHash('sha256');
  for (const kind of lookupKinds)
    for (const seed of seeds) hash.update(JSON.stringify(lookupBehaviour(openLookupWorld(kind, seed))));
  return hash.digest('hex');
}

function lookupBehaviour(world: LookupWorld): unknown {
  const { kind, baseline, perfect } = world;
  const prompts = [baseline, halfPrompt({ perfect })['perfect']!, perfect];
  const scored = prompts.flatMap((system) =>
    range(0, 20).map((seed) => {
      const question = { role: 'user', content: world.input(seed) };
      const answers = ['', `The town: ${world.input(seed).split(' ')[3]!.slice(0, -1)}`, 'Think step by step.'].map(
        (more) => world.answer([{ role: 'system', content: `${system}\n${more}` }, question]),
      );
      return [answers, world.score(seed, answers[0]!)];
    }),
  );
  const proposed = prompts.flatMap((system) =>
    range(0, 10).map((round) => {
      const failures = range(3 * round, 3 * round + 3).map((seed) => {
        const [input, output] = [
          world.input(seed),
          world.answer([{ role: 'user', content: `${system}\n${world.input(seed)}` }]),
        ];
        return { input, output, ...world.score(seed, output), steps: [], calls: 1, tokens: null };
      });
      const editRequest = buildEditProposal({
        graph: graphText(promptGraph(system)),
        failures,
        models: ['m'],
        maxEdits: 3,
        attempts: { now: 3, most: 72 },
      });
      const shown = failures.map(({ input, feedback }, at) => `# Example ${at + 1}\n${input}\n${feedback}`);
      const text = { role: 'user', content: `\`\`\`\n${system}\n\`\`\`\n${shown.join('\n')}` };
      return [world.propose(editRequest), world.propose([text])];
    }),
  );
  return { kind, baseline, perfect, scored, proposed };
}

/** SHA-256 of all worlds' answers to probing prompts and reflections, over both lists of seeds. */
export function worldsHash(seeds: readonly number[] = [...devSeeds, ...testSeeds]): string {
  const hash = createHash('sha256');
  for (const kind of worldKinds) {
    for (const seed of seeds) {
      for (const shuffledFeedback of [false, true]) {
        hash.update(JSON.stringify(behaviour(openWorld(kind, seed, { shuffledFeedback }))));
      }
    }
  }
  return hash.digest('hex');
}

function behaviour(world: World): unknown {
  const { kind, components, baseline, perfect } = world;
  const half = halfPrompt(perfect);
  const scores = [baseline, half, perfect].map((texts) => [
    range(0, instances).map((seed) => world.score(texts, seed, seed % 3)),
    world.trueReward(texts),
  ]);
  const answers = [baseline, half].flatMap((texts) =>
    components.flatMap((component) =>
      range(0, 20).map((round) => {
        const shown = range(3 * round, 3 * round + 3).map((seed) => world.score(texts, seed, 0).feedback);
        return world.reflect(`\`\`\`\n${texts[component]}\n\`\`\`\n${shown.join('\n')}`);
      }),
    ),
  );
  return { kind, components, baseline, perfect, scores, answers };
}

function taskBehaviour(world: TaskWorld): unknown {
  const { kind, baseline, perfect } = world;
  const half = halfPrompt({ perfect })['perfect']!;
  const demos = [0, 1, 2].map((seed) => ({ input: world.input(seed), output: world.expected(seed) }));
  const prompts = [baseline, half, perfect].flatMap((text) => [promptMessages(text, []), promptMessages(text, demos)]);
  const scores = prompts.map((prompt) =>
    range(0, 30).map((seed) => {
      const answer = world.answer([...prompt, { role: 'user', content: world.input(seed) }]);
      return [answer, world.score(seed, answer)];
    }),
  );
  const questions = [baseline, half].flatMap((text) =>
    range(0, 10).flatMap((round) => {
      const [input, output] = [world.input(2 * round), world.expected(2 * round)];
      const { feedback } = world.score(2 * round + 1, '');
      const example = `# Example 1\n## Inputs\n> ${input}\n## Generated Outputs\n> ${output}\n## Feedback\n> ${feedback}`;
      const dspy = `[[ ## task_demos ## ]]\n${input}\n${output}\n\n[[ ## basic_instruction ## ]]\n${text}\n\n`;
      const ending =
        'Respond with the corresponding output fields, starting with the field `[[ ## proposed_instruction ## ]]`.';
      return [`\`\`\`\n${text}\n\`\`\`\n${example}\n## Reward\n1`, `${dspy}${ending}`];
    }),
  );
  return {
    kind,
    baseline,
    perfect,
    scores,
    answers: questions.map((content) => world.propose([{ role: 'user', content }])),
  };
}

/** Every other statement of a prompt. */
function halfPrompt(perfect: Texts): Texts {
  return Object.fromEntries(
    Object.entries(perfect).map(([component, text]) => {
      const { other, stated } = readPrompt(text);
      return [component, writePrompt(other, new Map([...stated].filter((_, at) => at % 2 === 0)))];
    }),
  );
}
