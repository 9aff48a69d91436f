import {
  question,
  score,
  initialPrompt,
  labelsOf,
  type Intent,
  type LabelGuide,
} from '../../examples/intents/container.js';
import { parseProposal, type ReflectionExample } from '../../src/core/proposals/reflection.js';
import { seedRng, shuffle } from '../../src/core/math/random.js';
import { answerQuestion, answerTo } from './ask.js';

/** Result of a small search, judged on unseen tasks. */
export interface Found {
  baseline: number;
  winner: number;
  rollouts: number;
  prompt: string;
}

const minibatch = 12;
const evaluationSize = 30;
const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/**
 * A simplified GEPA without a service: the best prompt so far is the parent; a child that beats it
 * on a minibatch is evaluated; at most `maxRollouts`. 30 tasks are for evaluation, `training` tasks
 * for minibatches, and the rest stays unseen.
 */
export function optimize(
  tasks: readonly Intent[],
  guide: LabelGuide,
  { training, rngSeed = 0, maxRollouts = 1_000 }: { training: number; rngSeed?: number; maxRollouts?: number },
): Found {
  const labels = labelsOf(tasks);
  const [order] = shuffle(seedRng(rngSeed), tasks);
  const evaluation = order.slice(0, evaluationSize);
  const train = order.slice(evaluationSize, evaluationSize + training);
  const unseen = order.slice(evaluationSize + training);
  let rollouts = 0;

  const run = (prompt: string, task: Intent): ReflectionExample => {
    rollouts += 1;
    const input = question(task, labels);
    const output = answerTo(input, prompt);
    const { reward, feedback = '' } = score(task, output, labels, guide);
    return { input, output, feedback, reward };
  };
  const rewardOf = (prompt: string, on: readonly Intent[]) => mean(on.map((task) => run(prompt, task).reward));

  let best = { prompt: initialPrompt, reward: rewardOf(initialPrompt, evaluation) };
  let rng = seedRng(rngSeed, 1);
  let queue: Intent[] = [];
  while (rollouts + 2 * minibatch + evaluationSize <= maxRollouts) {
    if (queue.length < minibatch) [queue, rng] = shuffle(rng, train);
    const batch = queue.splice(0, minibatch);
    const examples = batch.map((task) => run(best.prompt, task));
    const child = proposal(best.prompt, examples);
    if (child === null || rewardOf(child, batch) <= mean(examples.map(({ reward }) => reward))) continue;
    const reward = rewardOf(child, evaluation);
    if (reward > best.reward) best = { prompt: child, reward };
  }
  const spent = rollouts;
  const baseline = rewardOf(initialPrompt, unseen);
  return { baseline, winner: rewardOf(best.prompt, unseen), rollouts: spent, prompt: best.prompt };
}

function proposal(parent: string, examples: ReflectionExample[]): string | null {
  const answer = answerQuestion({ kind: 'text', reflection: { instruction: parent, examples } });
  const parsed = parseProposal(answer, { parent, maxChars: 32_000, finishReason: 'stop' });
  return parsed.ok ? parsed.text : null;
}
