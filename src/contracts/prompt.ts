/** Prompts in requests. */
import { z } from 'zod';
import { componentName, componentNames, maxComponents } from '../core/prompts/components.js';
import { maxDemos } from '../core/prompts/demos.js';

const maxMessage = 100_000;
export const role = z.enum(['system', 'user', 'assistant']);
export const nameMeaning =
  'Name of the component. Default: the role, numbered from the second of that role (system_2).';

const promptMessageSchema = z
  .strictObject({
    role,
    content: z.string().min(1, 'must not be empty').max(maxMessage),
    name: z
      .string()
      .regex(componentName, 'must be 1 to 64 letters, digits, _ or -, and begin with a letter')
      .exactOptional()
      .describe(nameMeaning),
  })
  .meta({ id: 'PromptMessage' });

const messagesSchema = (most: number) =>
  z
    .array(promptMessageSchema)
    .min(1, 'must hold at least one message')
    .max(most, `must hold at most ${most} messages`)
    .superRefine((messages, ctx) => {
      const names = componentNames(messages);
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        const message = `repeats the name "${name}" of messages.${names.indexOf(name)}; give each message its own name`;
        ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
    });

/** A prompt; each message is a component with a unique name. */
export const promptMessagesSchema = messagesSchema(maxComponents);

/** A prompt that nothing rewrites, such as a winner with its demonstrations. */
export const fixedMessagesSchema = messagesSchema(maxComponents + 2 * maxDemos);
export const promptSchema = z.strictObject({ messages: promptMessagesSchema });
