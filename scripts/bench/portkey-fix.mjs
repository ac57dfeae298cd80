// Loaded before Portkey's gateway, which changes the headers of responses of `fetch`. These are immutable, so every stream would
// end with "TypeError: immutable". Returns a new response with the same body and mutable headers.
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const { body, status, statusText, headers } = await fetch(...request);
  return new Response(body, { status, statusText, headers: new Headers(headers) });
};
