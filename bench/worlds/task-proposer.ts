/**
 * The proposer of worlds in which a model is called, for whoever asks: sessions of ours (the instruction in the first fence,
 * examples below it) and DSPy's MIPROv2 (ChatAdapter; the instruction is `basic_instruction`). It learns the same from
 * either: what feedback says, and what answers say that are known to be right; up to `lessonsAtOnce` of it an answer.
 */
import { drawsOfText } from './draws.js';
import { inFence, readFrame, rewrite, type Lesson } from './proposer.js';
import { readPrompt } from './statements.js';
import { fieldOf, readAnswer, reply, writeAnswer, type ChatMessage } from './task-texts.js';
import { wordsIn } from './topics.js';

/** As many as DSPy shows it demonstrations for an instruction: one would make those that it writes worthless. */
const lessonsAtOnce = 3;

/** What the proposer answers. The same question gets the same answer; another word in it may be another answer. */
export function answerQuestion(messages: readonly ChatMessage[], worldSeed: number): string {
  const whole = messages.map(({ content }) => content).join('\n');
  const draws = () => drawsOfText(`${worldSeed}\n${whole}`);
  return reply(messages, (field) => {
    if (field === 'proposed_instruction') {
      const instruction = fieldOf(messages, 'basic_instruction');
      // DSPy takes demonstrations from calls that its metric passed, so they are right as far as it knows.
      const lessons = [
        ...readAnswer(`${fieldOf(messages, 'task_demos')}\n${fieldOf(messages, 'dataset_description')}`),
      ];
      return rewrite(instruction, unstated(lessons, instruction), lessonsAtOnce, draws());
    }
    if (field !== null) return describe(fieldOf(messages, field === 'summary' ? 'observations' : 'examples'));
    const { instruction, rest } = readFrame(whole);
    if (instruction === '') return describe(writeAnswer(lessonsIn(whole)));
    return inFence(rewrite(instruction, unstated(lessonsIn(rest), instruction), lessonsAtOnce, draws()));
  });
}

/** What an instruction does not say yet. */
function unstated(lessons: readonly Lesson[], instruction: string): Lesson[] {
  const { stated } = readPrompt(instruction);
  return lessons.filter(([topic, word]) => stated.get(topic) !== word);
}

/**
 * What is learned from a question of ours: of an example what its feedback says, what an answer with full reward says, and what
 * is told as expected; of the rest of it, such as a summary of the data, what it says of right words.
 */
function lessonsIn(shown: string): Lesson[] {
  const [before = '', ...examples] = shown.split(/^# Example \d+$/m);
  const learned = examples.flatMap((example) => {
    const [, output = ''] = /^## Generated Outputs\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(example) ?? [];
    const [, reward = '0'] = /^## Reward\n(\S+)/m.exec(example) ?? [];
    const [, expected = ''] = /\bExpected: (.*)/.exec(example) ?? [];
    return [...wordsIn(example), ...readAnswer(Number(reward) >= 1 ? output : ''), ...readAnswer(expected)];
  });
  return [...readAnswer(before), ...learned];
}

/** A few words on data; what right answers show there (labels, where a trainset has them) goes on in them. */
function describe(data: string): string {
  const words = [...readAnswer(data)].slice(0, lessonsAtOnce);
  return `Customers write about topics, and each topic wants a word of its own. ${writeAnswer(words)}`.trim();
}
