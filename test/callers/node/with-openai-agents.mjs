// The package @openai/agents, with its default model, for the Responses API.
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

setTracingDisabled(true);
const person = z.object({ name: z.string(), age: z.number() });

export class Caller {
  constructor({ url, key, model }) {
    this.model = new OpenAIResponsesModel(new OpenAI({ baseURL: url, apiKey: key, timeout: 60_000 }), model);
  }

  agent(more) {
    return new Agent({ name: 'caller', instructions: 'Obey.', model: this.model, ...more });
  }

  async streamed(question, more) {
    const answer = await run(this.agent(more), question, { stream: true });
    for await (const event of answer) void event;
    await answer.completed;
    return answer;
  }

  async chat(question) {
    return counted(await run(this.agent(), question));
  }

  async stream(question) {
    return { text: (await this.streamed(question)).finalOutput };
  }

  async stream_usage(question) {
    return counted(await this.streamed(question));
  }

  async tools(question) {
    const { calls, look } = looking();
    await run(this.agent({ tools: [look] }), question);
    return { calls };
  }

  async tools_stream(question) {
    const { calls, look } = looking();
    await this.streamed(question, { tools: [look] });
    return { calls };
  }

  async schema(question) {
    return { object: (await run(this.agent({ outputType: person }), question)).finalOutput };
  }

  async schema_stream(question) {
    return { object: (await this.streamed(question, { outputType: person })).finalOutput };
  }
}

function counted({ finalOutput: text, state }) {
  return { text, tokens: state.usage.totalTokens };
}

function looking() {
  const calls = [];
  const look = tool({
    name: 'look',
    description: 'Looks at a city.',
    parameters: z.object({ city: z.string() }),
    execute({ city }) {
      calls.push(['look', { city }]);
      return city;
    },
  });
  return { calls, look };
}
