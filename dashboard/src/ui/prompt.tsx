import type { Answer } from '../../../src/client/index.js';
import { componentNames, componentTexts } from '../../../src/core/prompts/components.js';
import { Copy } from './copy.js';
import { MarkedText } from './changes/marked.js';

type Message = NonNullable<Answer<'getSessionCandidate'>['messages']>[number];

/** A prompt, message by message; with `before`, what changed since then. */
export function Prompt({ messages, before }: { messages: readonly Message[]; before?: readonly Message[] | null }) {
  const names = componentNames(messages);
  const earlier = before ? componentTexts(before) : {};
  return (
    <div class="prompt">
      {messages.map((message, n) => {
        const name = names[n]!;
        return (
          <div key={name} class="prompt-part" role="group" aria-label={`Message ${name}`}>
            <header class="prompt-part-head">
              <span class="prompt-role">{name === message.role ? name : `${name} (${message.role})`}</span>
              <Copy text={message.content} label={`Copy ${name}`} />
            </header>
            {before ? (
              <MarkedText before={earlier[name] ?? ''} after={message.content} />
            ) : (
              <pre class="prompt-text" dir="auto" tabIndex={0}>
                {message.content}
              </pre>
            )}
          </div>
        );
      })}
    </div>
  );
}
