/** The `local` task model: reads labels and text from messages, the rest from the system prompt. */
import { inForm } from './answer-form.js';
import { choose, readChoice } from './choice.js';
import { classify } from './classify.js';
import { extract } from './extract.js';
import { readGuidance } from './guidance.js';
import { mentionFinder, offeredLabels } from './labels.js';
import { lookUp } from './lookup.js';
import { readParts } from './parts.js';

const maxInputLength = 100_000;

/** A parsed user message: its text, and its labels if it lists any. */
export interface Task {
  text: string;
  labels: string[];
}

export function readTask(message: string): Task {
  const { labels, rest } = offeredLabels(message.slice(0, maxInputLength));
  return { text: payload(rest), labels };
}

/** Answers a task, in JSON if requested; numbered candidates by the number of the best. */
export function answerTask(system: string, user: string): string {
  const choice = readChoice(user.slice(0, maxInputLength));
  if (choice) return choose(choice, plainAnswer(system, choice.rest));
  return inForm(`${system}\n\n${readParts(user).instruction}`, plainAnswer(system, user));
}

/**
 * A label if labels are offered, else a lookup if the message has a passage, else an extraction,
 * else the first line of the text.
 */
function plainAnswer(system: string, user: string): string {
  const task = readTask(user);
  const offered = offeredLabels(system.slice(0, maxInputLength));
  const labels = task.labels.length > 0 ? task.labels : offered.labels;
  if (labels.length > 0) return classify(task.text, labels, readGuidance(offered.rest, mentionFinder(labels)));
  const { passage, asked, instruction } = readParts(user);
  if (passage.length > 0) return lookUp(passage, asked, `${system}\n\n${instruction}`);
  return extract(system, task.text) ?? task.text.split('\n', 1)[0]!.slice(0, 500);
}

const field =
  /^[ \t]*(?:[\p{L}']{1,20}[ \t]){0,3}(?:message|text|input|sentence|query|question|ticket|e-?mail|request|review|comment|utterance|document)[ \t]*:/imu;
const order = /^[ \t]*(?:answer|reply|respond|return|choose|pick|output|classify|give|write)\b/i;

/** The message itself: after `Message:`, between tags, else all; without instructions. */
function payload(message: string): string {
  const tag = /<(text|message|input|document)>/i.exec(message);
  const closed = tag ? message.indexOf(`</${tag[1]!}>`, tag.index) : -1;
  if (closed >= 0) return message.slice(tag!.index + tag![0].length, closed).trim();
  const match = field.exec(message);
  const from = match ? match.index + match[0].length : 0;
  const kept = message.slice(from).split('\n');
  return kept
    .filter((line, at) => (match && at === 0) || !order.test(line))
    .join('\n')
    .trim();
}
