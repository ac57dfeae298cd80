// Loaded before Portkey's gateway: it changes headers of the answers that fetch gives, which are not to be changed, and every
// stream of it ends with "TypeError: immutable". Answers made anew may be changed; their bodies are the same.
const { fetch } = globalThis;
globalThis.fetch = async (...question) => {
  const { body, status, statusText, headers } = await fetch(...question);
  return new Response(body, { status, statusText, headers: new Headers(headers) });
};
