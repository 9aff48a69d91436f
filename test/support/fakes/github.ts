import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../loopback.js';

/** GitHub's API for the comments of pull requests. */
export interface FakeGitHub {
  url: string;
  comments: { id: number; body: string }[];
  /** The method and path of each request. */
  calls: string[];
  close(): Promise<void>;
}

export async function startFakeGitHub(token: string): Promise<FakeGitHub> {
  const comments: FakeGitHub['comments'] = [];
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    calls.push(`${method} ${url}`);
    const answer = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
    if (headers.authorization !== `Bearer ${token}`) return answer(403, {});
    if (method === 'GET') {
      const page = Number(new URL(url, 'http://x').searchParams.get('page'));
      return answer(200, comments.slice((page - 1) * 100, page * 100));
    }
    void json(request).then((sent) => {
      const { body } = sent as { body: string };
      if (method === 'POST') comments.push({ id: comments.length + 1, body });
      else comments.find(({ id }) => url.endsWith(`/comments/${id}`))!.body = body;
      answer(method === 'POST' ? 201 : 200, {});
    });
  });
  return { comments, calls, ...(await listen(server)) };
}
