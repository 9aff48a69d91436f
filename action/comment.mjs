/** Writes the comment of a pull request that has this marker, or a new one. */
export async function upsertComment({ api, repository, number, token }, marker, markdown) {
  const issues = `${api}/repos/${repository}/issues`;
  const body = `${marker}\n${markdown}`;
  const found = await find(`${issues}/${number}/comments`, marker, token);
  await (found
    ? call('PATCH', `${issues}/comments/${found.id}`, token, { body })
    : call('POST', `${issues}/${number}/comments`, token, { body }));
}

const pageSize = 100;

async function find(comments, marker, token) {
  for (let page = 1; ; page += 1) {
    const listed = await call('GET', `${comments}?per_page=${pageSize}&page=${page}`, token);
    const found = listed.find((comment) => comment.body?.startsWith(marker));
    if (found || listed.length < pageSize) return found;
  }
}

async function call(method, url, token, body) {
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${response.status}`);
  return response.json();
}
