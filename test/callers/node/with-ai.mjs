// The package ai with @ai-sdk/openai-compatible.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateObject, generateText, streamObject, streamText, tool } from 'ai';
import { z } from 'zod';

const person = z.object({ name: z.string(), age: z.number() });
const look = tool({ description: 'Looks at a city.', inputSchema: z.object({ city: z.string() }) });
const png = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
// Its back-off begins with 2 s.
const common = { maxRetries: 1 };

export class Caller {
  constructor({ url, key, model }) {
    const options = { name: 'ratchet', baseURL: url, apiKey: key, includeUsage: true, supportsStructuredOutputs: true };
    this.provider = createOpenAICompatible(options);
    this.model = model;
  }

  asking(prompt, more) {
    return { ...common, model: this.provider(this.model), prompt, ...more };
  }

  async chat(question) {
    const { text, usage } = await generateText(this.asking(question));
    return { text, tokens: usage.totalTokens };
  }

  async stream(question) {
    const { text, tokens } = await this.stream_usage(question);
    return { text, isCounted: tokens > 0 };
  }

  async stream_usage(question) {
    const answer = streamText(this.asking(question, { onError() {} }));
    return { text: await read(answer), tokens: (await answer.usage).totalTokens };
  }

  async tools(question) {
    return called((await generateText(this.asking(question, { tools: { look } }))).toolCalls);
  }

  async tools_stream(question) {
    const answer = streamText(this.asking(question, { tools: { look } }));
    await read(answer);
    return called(await answer.toolCalls);
  }

  async schema(question) {
    return { object: (await generateObject(this.asking(question, { schema: person }))).object };
  }

  async schema_stream(question) {
    const answer = streamObject(this.asking(question, { schema: person, onError() {} }));
    let object = null;
    for await (const part of answer.partialObjectStream) object = part;
    return { object: (await answer.object) && object };
  }

  async image(question) {
    const content = [
      { type: 'text', text: question },
      { type: 'image', image: png, mediaType: 'image/png' },
    ];
    const { text } = await generateText({
      ...common,
      model: this.provider(this.model),
      messages: [{ role: 'user', content }],
    });
    return { text };
  }

  async abort(question) {
    const leaving = new AbortController();
    const answer = streamText(this.asking(question, { abortSignal: leaving.signal, onError() {} }));
    for await (const text of answer.textStream) {
      leaving.abort();
      return { text };
    }
    return null;
  }

  async embed(question) {
    const model = this.provider.textEmbeddingModel?.(this.model) ?? this.provider.embeddingModel(this.model);
    return { vectors: [await embed({ ...common, model, value: question })].length };
  }
}

/** The text of a stream; throws its error, which is one of its parts. */
async function read(answer) {
  let text = '';
  for await (const part of answer.fullStream) {
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new StreamedError(part.error);
    if (part.type === 'text-delta') text += part.text ?? part.delta;
  }
  return text;
}

class StreamedError extends Error {
  constructor(error) {
    super(JSON.stringify(error));
    this.code = error?.code;
  }
}

function called(calls) {
  return { calls: calls.map(({ toolName, input }) => [toolName, input]) };
}
