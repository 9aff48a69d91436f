/** The `local` task model: reads labels and text from messages, the rest from the system prompt. */
import { classify } from './classify.js';
import { readGuidance } from './guidance.js';
import { mentionFinder, offeredLabels } from './labels.js';
import { lookUp } from './lookup.js';
import { readParts } from './parts.js';

const maxInputLength = 100_000;
const maxCopiedLength = 500;

/** A parsed user message: its text, and its labels if it lists any. */
export interface Task {
  text: string;
  labels: string[];
}

export function readTask(message: string): Task {
  const { labels, rest } = offeredLabels(message.slice(0, maxInputLength));
  return { text: payload(rest), labels };
}

/**
 * A label if labels are offered, else a lookup if the message has a passage, else the first line of
 * the text.
 */
export function answerTask(system: string, user: string): string {
  const task = readTask(user);
  const offered = offeredLabels(system.slice(0, maxInputLength));
  const labels = task.labels.length > 0 ? task.labels : offered.labels;
  if (labels.length > 0) return classify(task.text, labels, readGuidance(offered.rest, mentionFinder(labels)));
  const { passage, asked, instruction } = readParts(user);
  if (passage.length > 0) return lookUp(passage, asked, `${system}\n\n${instruction}`);
  return task.text.split('\n', 1)[0]!.slice(0, maxCopiedLength);
}

const field =
  /^[ \t]*(?:[\p{L}']{1,20}[ \t]){0,3}(?:message|text|input|sentence|query|question|ticket|e-?mail|request|review|comment|utterance|document)[ \t]*:/imu;
const order = /^[ \t]*(?:answer|reply|respond|return|choose|pick|output|classify|give|write)\b/i;

/** The message itself: after `Message:`, else all; without instructions beside another text. */
function payload(message: string): string {
  const match = field.exec(message);
  const from = match ? match.index + match[0].length : 0;
  const text = message.slice(from);
  const lines = text.split('\n').filter((line, at) => (match && at === 0) || !order.test(line));
  return lines.join('\n').trim() || text.trim();
}
