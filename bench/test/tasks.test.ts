/**
 * Worlds with a task model, which follows the instruction and useful demonstrations, else guesses.
 * The proposer learns the same from the service's messages and DSPy's.
 */
import { describe, expect, test } from '@jest/globals';
import { buildReflection, type ReflectionExample } from '../../src/core/proposals/reflection.js';
import { frozenTaskHash, taskWorldsHash } from '../worlds/freeze.js';
import { readPrompt } from '../worlds/statements.js';
import { promptMessages, readAnswer, type ChatMessage, type Demonstration } from '../worlds/task-texts.js';
import { openTaskWorld, taskKinds, type TaskWorld } from '../worlds/tasks.js';
import { proposalOf } from './reflections.js';

const seeds = Array.from({ length: 60 }, (_, seed) => seed);
const user = (content: string): ChatMessage => ({ role: 'user', content });
const ending = (field: string) =>
  `\n\nRespond with the corresponding output fields, starting with the field \`[[ ## ${field} ## ]]\`, and then ending with the marker for \`[[ ## completed ## ]]\`.`;

/** A call of `message -> answer` as formatted by the ChatAdapter of dspy 3.4.1. */
function chatAdapter(instruction: string, demos: readonly Demonstration[], input: string): ChatMessage[] {
  const system =
    'Your input fields are:\n1. `message` (str):\nYour output fields are:\n1. `answer` (str):\n' +
    'All interactions will be structured in the following way, with the appropriate values filled in.\n\n' +
    '[[ ## message ## ]]\n{message}\n\n[[ ## answer ## ]]\n{answer}\n\n[[ ## completed ## ]]\n' +
    `In adhering to this structure, your objective is: ${['', ...instruction.split('\n')].join('\n        ')}`;
  const shown = demos.map((demo) => ({
    input: `[[ ## message ## ]]\n${demo.input}`,
    output: `[[ ## answer ## ]]\n${demo.output}\n\n[[ ## completed ## ]]\n`,
  }));
  return [...promptMessages(system, shown), user(`[[ ## message ## ]]\n${input}${ending('answer')}`)];
}

/** DSPy's request for an instruction. */
function forInstruction(instruction: string, demos: readonly Demonstration[]): ChatMessage[] {
  const shown = demos.map(({ input, output }) => `Message: ${input}\nAnswer: ${output}`).join('\n\n');
  const fields = `[[ ## task_demos ## ]]\n${shown}\n\n[[ ## basic_instruction ## ]]\n${instruction}\n\n[[ ## tip ## ]]\nx`;
  return [{ role: 'system', content: 'Your input fields are: …' }, user(`${fields}${ending('proposed_instruction')}`)];
}

const right = (world: TaskWorld, seed: number): Demonstration => ({
  input: world.input(seed),
  output: world.expected(seed),
});

describe.each(taskKinds)('%s', (kind) => {
  const world = openTaskWorld(kind, 1);

  test('the baseline sometimes answers correctly, the perfect instruction always', () => {
    expect(world.trueReward(promptMessages(world.perfect, []))).toBe(1);
    const rewards = seeds.map((seed) => {
      return world.score(seed, world.answer([...promptMessages(world.baseline, []), user(world.input(seed))])).reward;
    });
    expect(rewards.filter((reward) => reward === 1).length).toBeGreaterThan(2);
    expect(world.trueReward(promptMessages(world.baseline, []))).toBeLessThan(0.4);
  });

  test(`demonstrations ${kind === 'examples' ? 'help on the topics of their inputs' : 'change nothing'}`, () => {
    const plain = world.trueReward(promptMessages(world.baseline, []));
    const demos = [0, 1, 2, 3].map((seed) => right(world, seed));
    const shown = world.trueReward(promptMessages(world.baseline, demos));
    if (kind === 'examples') expect(shown).toBeGreaterThan(plain);
    else expect(shown).toBe(plain);
    const foreign = demos.map(({ output }) => ({ input: 'Hello', output }));
    expect(world.trueReward(promptMessages(world.baseline, foreign))).toBe(plain);
  });

  test('answers DSPy’s messages equally, in its format', () => {
    const half = world.perfect.split('\n').slice(0, 8).join('\n');
    const demos = [0, 1, 2].map((seed) => right(world, seed));
    for (const seed of seeds) {
      const own = world.answer([...promptMessages(half, demos), user(world.input(seed))]);
      const framed = world.answer(chatAdapter(half, demos, world.input(seed)));
      expect(framed).toBe(`[[ ## answer ## ]]\n${own}\n\n[[ ## completed ## ]]`);
    }
  });
});

describe('the proposer', () => {
  const world = openTaskWorld('examples', 2);
  const ask = (examples: Partial<ReflectionExample>[], instruction = world.baseline) => {
    const whole = examples.map((example) => ({ input: '', output: '', feedback: '', reward: 0, ...example }));
    const answer = world.propose(buildReflection({ instruction, examples: whole }));
    return [...readPrompt(proposalOf(answer, instruction)).stated];
  };
  const dspy = (demos: Demonstration[]) => {
    const [, text] = /^\[\[ ## proposed_instruction ## \]\]\n([\s\S]*)\n\n\[\[ ## completed ## \]\]$/.exec(
      world.propose(forInstruction(world.baseline, demos)),
    )!;
    return [...readPrompt(text!).stated];
  };
  const three = (at: number) => [at, at + 1, at + 2].map((seed) => right(world, seed));
  const perfect = (demos: Demonstration[]) => ask(demos.map((demo) => ({ ...demo, reward: 1 })));
  const truth = readPrompt(world.perfect).stated;

  test('learns from feedback, else only from answers with full reward', () => {
    const { feedback } = world.score(0, '');
    expect(seeds.flatMap((n) => ask([{ input: String(n), feedback }])).length).toBeGreaterThan(20);
    expect(seeds.flatMap((n) => ask([{ ...right(world, n), reward: 0.5 }]))).toEqual([]);
    expect(seeds.flatMap((n) => perfect(three(n))).length).toBeGreaterThan(80);
  });

  test('learns equally much from both questions: at most three lessons, most of them correct', () => {
    const [fromService, fromDspy] = [perfect, dspy].map((learn) => seeds.map((n) => learn(three(n))));
    for (const learned of [fromService!, fromDspy!]) {
      expect(Math.max(...learned.map(({ length }) => length))).toBe(3);
      const flat = learned.flat();
      const share = flat.filter(([topic, word]) => truth.get(topic) === word).length / flat.length;
      expect(share).toBeGreaterThan(0.8);
      expect(share).toBeLessThan(1);
    }
    expect(Math.abs(fromService!.flat().length - fromDspy!.flat().length)).toBeLessThan(
      0.2 * fromService!.flat().length,
    );
  });

  test('learns from expected answers and from summaries of labeled data', () => {
    const { output } = right(world, 0);
    const learned = seeds.flatMap((n) => ask([{ input: String(n), feedback: `Expected: ${output}` }]));
    expect(learned.length).toBeGreaterThan(20);
    const examples = `[[ ## examples ## ]]\n[Example({'message': 'x', 'answer': '${output}'})]${ending('observations')}`;
    expect([...readAnswer(world.propose([user(examples)]))].length).toBeGreaterThan(0);
  });

  test('answers other questions in the requested format', () => {
    expect(world.propose([user('Summarise the data.')])).not.toBe('');
    const fields = world.propose([user(`[[ ## program_code ## ]]\nx${ending('program_description')}`)]);
    expect(fields).toMatch(/^\[\[ ## program_description ## \]\]\n\S[\s\S]*\[\[ ## completed ## \]\]$/);
  });
});

test('the worlds match the frozen hash', () => {
  expect(taskWorldsHash()).toBe(frozenTaskHash);
});
