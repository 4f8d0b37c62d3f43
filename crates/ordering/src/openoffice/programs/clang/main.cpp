// What `clang -cc1 ARGUMENTS` does, made from the public headers of clang: one run of the compiler
// in this process.
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/ObjectFilePCHContainerOperations.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>

int main(int count, const char **arguments) {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
    int first = count > 1 && !std::strcmp(arguments[1], "-cc1") ? 2 : 1;
    auto *compiler = new clang::CompilerInstance();
    auto containers = compiler->getPCHContainerOperations();
    containers->registerWriter(std::make_unique<clang::ObjectFilePCHContainerWriter>());
    containers->registerReader(std::make_unique<clang::ObjectFilePCHContainerReader>());
    // What is wrong with the arguments is told when it is known how to tell it.
    auto *early = new clang::TextDiagnosticBuffer;
    clang::DiagnosticsEngine diagnostics(
        new clang::DiagnosticIDs(), new clang::DiagnosticOptions(), early);
    llvm::ArrayRef<const char *> rest(arguments + first, arguments + count);
    bool good = clang::CompilerInvocation::CreateFromArgs(
        compiler->getInvocation(), rest, diagnostics, arguments[0]);
    compiler->createDiagnostics();
    early->FlushDiagnostics(compiler->getDiagnostics());
    if (good) good = clang::ExecuteCompilerInvocation(compiler);
    llvm::llvm_shutdown();
    return !good;
}
