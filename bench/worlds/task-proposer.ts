/**
 * The proposer of worlds with a task model, for our sessions and DSPy's MIPROv2. It learns the same
 * from both: up to `lessonsAtOnce` from feedback and correct answers.
 */
import { textDraws } from './draws.js';
import { inFence, readFrame, rewrite, type Lesson } from './proposer.js';
import { readPrompt } from './statements.js';
import { chatField, readAnswer, reply, writeAnswer, type ChatMessage } from './task-texts.js';
import { wordsIn } from './topics.js';

/**
 * As many as DSPy's demonstrations per instruction: fewer would make the instructions worthless.
 */
const lessonsAtOnce = 3;

/** The proposer's answer; identical questions get identical answers. */
export function answerQuestion(messages: readonly ChatMessage[], worldSeed: number): string {
  const whole = messages.map(({ content }) => content).join('\n');
  const draws = () => textDraws(`${worldSeed}\n${whole}`);
  return reply(messages, (field) => {
    if (field === 'proposed_instruction') {
      const instruction = chatField(messages, 'basic_instruction');
      // DSPy's demonstrations passed its metric, so they count as correct.
      const lessons = [
        ...readAnswer(`${chatField(messages, 'task_demos')}\n${chatField(messages, 'dataset_description')}`),
      ];
      return rewrite(instruction, unstated(lessons, instruction), draws(), { atOnce: lessonsAtOnce });
    }
    if (field !== null) return describe(chatField(messages, field === 'summary' ? 'observations' : 'examples'));
    const { instruction, rest } = readFrame(whole);
    if (instruction === '') return describe(writeAnswer(lessonsIn(whole)));
    return inFence(rewrite(instruction, unstated(lessonsIn(rest), instruction), draws(), { atOnce: lessonsAtOnce }));
  });
}

/** Lessons that an instruction lacks. */
function unstated(lessons: readonly Lesson[], instruction: string): Lesson[] {
  const { stated } = readPrompt(instruction);
  return lessons.filter(([topic, word]) => stated.get(topic) !== word);
}

/**
 * Lessons of our question: feedback of examples, correct and expected answers; and right words in
 * the rest, such as a summary of the data.
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

/** A short summary of data, with the right answers that it shows. */
function describe(data: string): string {
  const words = [...readAnswer(data)].slice(0, lessonsAtOnce);
  return `Customers write about topics, and each topic wants a word of its own. ${writeAnswer(words)}`.trim();
}
