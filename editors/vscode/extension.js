"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function halo() { return vscode.workspace.getConfiguration("halo").get("path"); }

exports.activate = context => {
  const languages = ["hlo", "stablehlo", "halo-rules"];
  client = new LanguageClient("halo", "halo", { command: halo(), args: ["lsp"] }, { documentSelector: languages.map(language => ({ language })) });
  context.subscriptions.push(vscode.commands.registerCommand("halo.view", () => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    // Without a shell between, so that no name of a file is a command.
    const terminal = vscode.window.createTerminal({ name: "halo view", shellPath: halo(), shellArgs: ["view", "--open", editor.document.fileName] });
    terminal.show();
  }));
  return client.start();
};

exports.deactivate = () => client && client.stop();
