// The package @langchain/openai.
import { concat } from '@langchain/core/utils/stream';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';

const person = z.object({ name: z.string(), age: z.number() });
const look = tool(({ city }) => city, { name: 'look', description: 'Looks.', schema: z.object({ city: z.string() }) });
const pixel = 'data:image/png;base64,iVBORw0KGgo=';

export class Caller {
  constructor({ url, key, model }) {
    const service = { model, apiKey: key, maxRetries: 2, timeout: 60_000, configuration: { baseURL: url } };
    this.llm = new ChatOpenAI(service);
    this.embeddings = new OpenAIEmbeddings(service);
  }

  async chat(question) {
    const { content, usage_metadata: usage } = await this.llm.invoke(question);
    return { text: content, tokens: usage.total_tokens };
  }

  async stream(question) {
    return { text: (await joined(await this.llm.stream(question))).content };
  }

  async stream_usage(question) {
    const { content, usage_metadata: usage } = await joined(await this.llm.stream(question));
    return { text: content, tokens: usage.total_tokens };
  }

  async tools(question) {
    return called(await this.llm.bindTools([look]).invoke(question));
  }

  async tools_stream(question) {
    return called(await joined(await this.llm.bindTools([look]).stream(question)));
  }

  async schema(question) {
    return { object: await this.llm.withStructuredOutput(person).invoke(question) };
  }

  async schema_stream(question) {
    let object = null;
    for await (const part of await this.llm.withStructuredOutput(person).stream(question)) object = part;
    return { object };
  }

  async image(question) {
    const content = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url: pixel } },
    ];
    return { text: (await this.llm.invoke([{ role: 'user', content }])).content };
  }

  async abort(question) {
    for await (const { content } of await this.llm.stream(question)) if (content) return { text: content };
    return null;
  }

  async embed(question) {
    return { vectors: (await this.embeddings.embedDocuments([question])).length };
  }
}

async function joined(stream) {
  let answer;
  for await (const chunk of stream) answer = answer ? concat(answer, chunk) : chunk;
  return answer;
}

function called({ tool_calls: calls }) {
  return { calls: calls.map(({ name, args }) => [name, args]) };
}
