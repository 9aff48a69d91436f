// The package openai, 4 and later.
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

export const pixel = 'data:image/png;base64,iVBORw0KGgo=';
export const personSchema = z.object({ name: z.string(), age: z.number() });
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'look', parameters } }];
const person = zodResponseFormat(personSchema, 'person');

export class Caller {
  constructor({ url, key, model }) {
    this.client = new OpenAI({ baseURL: url, apiKey: key, timeout: 60_000 });
    this.model = model;
    // Older versions have its helpers apart.
    const { completions } = this.client.chat;
    this.helpers = completions.parse ? completions : this.client.beta.chat.completions;
  }

  asking(content, more) {
    return { model: this.model, messages: [{ role: 'user', content }], ...more };
  }

  create(content, more) {
    return this.client.chat.completions.create(this.asking(content, more));
  }

  async chat(question) {
    const { choices, usage } = await this.create(question);
    return { text: choices[0].message.content, tokens: usage.total_tokens };
  }

  async stream(question) {
    let text = '';
    for await (const { choices } of await this.create(question, { stream: true }))
      text += choices[0].delta.content ?? '';
    return { text };
  }

  async stream_usage(question) {
    const answer = this.helpers.stream(this.asking(question, { stream_options: { include_usage: true } }));
    return { text: await answer.finalContent(), tokens: (await answer.totalUsage()).total_tokens };
  }

  async tools(question) {
    return called((await this.create(question, { tools })).choices[0].message);
  }

  async tools_stream(question) {
    return called(await this.helpers.stream(this.asking(question, { tools })).finalMessage());
  }

  async schema(question) {
    const answer = await this.helpers.parse(this.asking(question, { response_format: person }));
    return { object: answer.choices[0].message.parsed };
  }

  async schema_stream(question) {
    const answer = this.helpers.stream(this.asking(question, { response_format: person }));
    return { object: (await answer.finalMessage()).parsed };
  }

  async image(question) {
    const parts = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url: pixel } },
    ];
    return { text: (await this.create(parts)).choices[0].message.content };
  }

  async abort(question) {
    const stream = await this.create(question, { stream: true });
    for await (const { choices } of stream) {
      // The end of the loop aborts the request.
      if (choices[0].delta.content) return { text: choices[0].delta.content };
    }
    return null;
  }

  async embed(question) {
    return { vectors: (await this.client.embeddings.create({ model: this.model, input: question })).data.length };
  }

  async respond(question) {
    return { text: (await this.client.responses.create({ model: this.model, input: question })).output_text };
  }

  async complete(question) {
    return { text: (await this.client.completions.create({ model: this.model, prompt: question })).choices[0].text };
  }

  async models() {
    const models = [];
    for await (const { id } of this.client.models.list()) models.push(id);
    return { models: models.sort() };
  }
}

function called({ tool_calls: calls }) {
  return { calls: calls.map(({ function: { name, arguments: given } }) => [name, JSON.parse(given)]) };
}
