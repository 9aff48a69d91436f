import { useState } from 'preact/hooks';
import { signIn, signInError } from '../data/access.js';
import { Field, Problem } from '../ui/basics.js';
import { Heading } from '../ui/heading.js';

export function SignIn() {
  const [key, setKey] = useState('');
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void signIn(key.trim());
  };
  return (
    <main class="sign-in" id="main">
      <form class="panel" onSubmit={onSubmit}>
        <Heading title="Sign in">
          <img src="/favicon.svg" alt="" width="28" height="28" /> Ratchet
        </Heading>
        <Field
          label="API key"
          hint="It is in the file .ratchet/api-key of the service's folder. The link that the service prints at its start signs in, too."
        >
          <input
            type="password"
            autocomplete="current-password"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        <button class="button button-primary" type="submit">
          Sign in
        </button>
        <Problem error={signInError.value} />
      </form>
    </main>
  );
}
