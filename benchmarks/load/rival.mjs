// What Probot does with an event that nobody listens to: checking the signature and reading it.
// node rival.mjs FOLDER PORT SECRET, where FOLDER holds node_modules/probot.
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, port, secret] = process.argv.slice(2);
const entry = createRequire(`${folder}/`).resolve("probot");
const { createNodeMiddleware, createProbot } = await import(pathToFileURL(entry));
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const probot = createProbot({ overrides: { appId: 4711, privateKey, secret, logLevel: "fatal" } });
const answer = await createNodeMiddleware(() => {}, { probot, webhooksPath: "/webhooks/github" });
http.createServer(answer).listen(Number(port), "127.0.0.1");
